/** `oxbow completion bash|zsh|fish`, and the candidates for the scripts. */
import { safeLine } from "../../base/terminal-text.js";
import type { Variables } from "../../base/variables.js";
import type { CommandResult } from "../../feature/command.js";
import { COMPLETION_CANDIDATES, COMPLETION_SCRIPT } from "../../runtime/commands/program.js";
import { type ShellCommand, shellRunner } from "../shell-command.js";

export const shell: ShellCommand = {
  name: "completion",
  specs: [COMPLETION_SCRIPT, COMPLETION_CANDIDATES],
  about: `Prints a script that completes commands, flags, sessions, routes and models.

  bash  source <(oxbow completion bash)      in ~/.bashrc
  zsh   source <(oxbow completion zsh)       in ~/.zshrc, after compinit
  fish  oxbow completion fish | source       in ~/.config/fish/config.fish`,
  open: async (_flags, variables) => ({
    commands: [
      { ...COMPLETION_SCRIPT, run: (args) => script(args.text("SHELL") as Shell) },
      { ...COMPLETION_CANDIDATES, run: (args) => candidates(args.list("WORD"), variables) },
    ],
  }),
};

export const run = shellRunner(shell);

function script(name: Shell): CommandResult {
  return { text: SCRIPTS[name].trimEnd(), value: { shell: name, script: SCRIPTS[name] } };
}

async function candidates(words: readonly string[], variables: Variables): Promise<CommandResult> {
  const [{ candidatesFor }, { completionWorld }] = await Promise.all([
    import("../completion/candidates.js"),
    import("../completion/world.js"),
  ]);
  const found = await candidatesFor(words, completionWorld(variables));
  if (typeof found === "string") return { text: found, value: found };
  const lines = found.map(({ value, about = "" }) => `${value}\t${safeLine(about)}`);
  return { text: lines.join("\n"), value: found.map((each) => ({ ...each })) };
}

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Bash breaks words at ':' and '=' and replaces only what follows the last of them. */
const BASH = String.raw`# bash completion for oxbow:  source <(oxbow completion bash)
_oxbow() {
  local line="${"$"}{COMP_LINE:0:COMP_POINT}" words current candidate prefix=""
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  current="${"$"}{words[${"$"}{#words[@]}-1]}"
  [[ $current == *[:=]* ]] && prefix="${"$"}{current%"${"$"}{current##*[:=]}"}"
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    case $candidate in
      :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${"$"}{current#"$prefix"}"); return ;;
      :folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "${"$"}{current#"$prefix"}"); return ;;
      *) COMPREPLY+=("${"$"}{candidate#"$prefix"}") ;;
    esac
  done < <("${"$"}{words[0]}" completion candidates -- "${"$"}{words[@]:1}" 2>/dev/null)
}
complete -F _oxbow oxbow
`;

const ZSH = String.raw`#compdef oxbow
# zsh completion for oxbow:  source <(oxbow completion zsh)
_oxbow() {
  local line
  local -a found
  for line in "${"$"}{(@f)$("${"$"}{words[1]}" completion candidates -- "${"$"}{(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) _files; return ;;
      :folders) _files -/; return ;;
      ?*) found+=("${"$"}{${"$"}{line%%$'\t'*}//:/\\:}:${"$"}{line#*$'\t'}") ;;
    esac
  done
  _describe oxbow found
}
if [ "$funcstack[1]" = "_oxbow" ]; then _oxbow "$@"; else compdef _oxbow oxbow; fi
`;

const FISH = `# fish completion for oxbow:  oxbow completion fish | source
function __oxbow_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] completion candidates -- $words[2..-1] "$current" 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path "$current"
      case ':folders'
        __fish_complete_directories "$current"
      case '*'
        echo $line
    end
  end
end
complete -c oxbow -f -a '(__oxbow_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
