"""The console script. `--version` is answered before anything slow is imported."""

from __future__ import annotations

import gc
import os
import sys

from rdma_robust import VERSION_TEXT
from rdma_robust.foreign import YOUNG_OBJECTS, forget_current_folder


def main() -> int:
    """Run the command line of this process and return its exit code; no exception leaves it."""
    arguments = sys.argv[1:]
    gc.set_threshold(YOUNG_OBJECTS)
    try:
        _tame_streams()
        if arguments == ["--version"] and "_RDMA_ROBUST_COMPLETE" not in os.environ:
            # Written out here: at the end of the interpreter nobody catches that the reader has gone.
            print(VERSION_TEXT, flush=True)
            return 0
        if asked := os.environ.get("_RDMA_ROBUST_COMPLETE"):
            from rdma_robust.cli.completion.answers import shell_answer  # noqa: PLC0415 - only for shells

            print("\n".join(shell_answer(asked, arguments)))
            return 0
        from rdma_robust.cli.app import run  # noqa: PLC0415 - slow

        return int(run(arguments))
    except BrokenPipeError:
        return _unread()
    except SystemExit as ending:
        # No code of this program ends it so: a library has an exit code of its own for what has happened to it.
        if isinstance(ending.__context__, BrokenPipeError):
            return _unread()
        from rdma_robust.frame.shell.stderr import internal_message  # noqa: PLC0415 - only now needed

        print(internal_message(f"a library ended the process with {ending.code!r}"), file=sys.stderr)
        return 4
    except KeyboardInterrupt as stop:
        print("interrupted", file=sys.stderr)
        return int(getattr(stop, "exit", 130))
    except OSError as error:
        from rdma_robust.frame.shell.output import drop_output  # noqa: PLC0415 - only now needed

        print(f"error: {error.strerror or error} [RR002]", file=sys.stderr)
        drop_output()
        return 2
    except Exception as error:
        from rdma_robust.frame.shell.stderr import internal_message  # noqa: PLC0415 - only now needed

        print(internal_message(f"{type(error).__name__}: {error}"), file=sys.stderr)
        return 4


def _unread() -> int:
    """Return the exit code where nobody reads what is printed."""
    from rdma_robust.frame.shell.output import drop_output  # noqa: PLC0415 - only now needed

    drop_output()
    return 141


def _tame_streams() -> None:
    """Let characters that a stream's encoding lacks be escaped instead of raised; let closed streams swallow."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    forget_current_folder()
    sys.exit(main())
