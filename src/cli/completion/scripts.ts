/** The few lines that each shell needs. They call `oxbow completion candidates`, so they never change. */

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
