"""`clew doctor completion`: what makes the shell complete commands, options and names."""

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from clew import ConfigError
from clew.cli.errors import ANSWERED, COMPLETE, PROGRAM
from clew.cli.options import DEBUG
from clew.cli.safe_text import say

EPILOG = """\b
Install it once, then start a new shell:
  clew doctor completion bash \\
    > ~/.local/share/bash-completion/completions/clew
  clew doctor completion zsh > "${fpath[1]}/_clew"
  clew doctor completion fish > ~/.config/fish/completions/clew.fish

\b
Or try it in this shell:
  source <(clew doctor completion bash)
"""


class Bash(BashComplete):
    """Bash splits words at colons, which names of models have: so it gets what follows the last."""

    source_template = """\
%(complete_func)s() {
    local IFS=$'\\n' reply type value
    COMPREPLY=()
    for reply in $(env COMP_LINE="${COMP_LINE:0:$COMP_POINT}" COMP_BREAKS="$COMP_WORDBREAKS" \\
            %(complete_var)s=bash_complete "$1"); do
        IFS=',' read -r type value <<< "$reply"
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the last, and the last, which may be empty."""
        line = os.environ["COMP_LINE"]
        _, *words = split_arg_string(line)
        begun = words.pop() if words and not line[-1:].isspace() else ""
        return words, begun

    def format_completion(self, item: CompletionItem) -> str:
        """An item as the script above reads it."""
        begun = self.get_completion_args()[1].rpartition("=")[2]
        before = begun[: begun.rfind(":") + 1] if ":" in os.environ["COMP_BREAKS"] else ""
        return f"{item.type},{item.value.removeprefix(before)}"


add_completion_class(Bash)


@click.command(epilog=EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@DEBUG
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print a script that completes commands, options, runs, models and tools in SHELL."""
    kind = get_completion_class(shell)
    if kind is None:
        message = f"nothing completes for {shell} here: update click"
        raise ConfigError(message)
    script = kind(context.find_root().command, {}, PROGRAM, COMPLETE).source()
    say(script, nl=False)
    return ANSWERED
