"""The documentation site: reference pages made from the code, and what MkDocs does to the pages of docs/."""
