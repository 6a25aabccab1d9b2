"""The options of commands: their types, checks, defaults and help. In: arguments as text. Out: values, or usage errors."""
