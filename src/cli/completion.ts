/** Scripts that let a shell complete the command line. They are made from the list of commands, and call nothing. */
import type { ParseArgsConfig } from 'node:util';

interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly options?: NonNullable<ParseArgsConfig['options']>;
}

type Options = NonNullable<ParseArgsConfig['options']>;

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export function completionScript(shell: Shell, commands: readonly Completed[], everywhere: Options): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands, everywhere);
}

const firstWords = (commands: readonly Completed[]) => [...new Set(commands.map(({ name }) => name.split(' ')[0]!))];
const secondWords = (commands: readonly Completed[], first: string) =>
  commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
const flagsOf = (options: Options = {}) => Object.keys(options).map((name) => `--${name}`);

/** The words that may follow, as cases of a shell by what stands before. */
function casesOf(commands: readonly Completed[], everywhere: Options): string {
  const groups = firstWords(commands).filter((word) => secondWords(commands, word).length > 0);
  return [
    ...groups.map((word) => `    "${word} ") words="${secondWords(commands, word).join(' ')}" ;;`),
    ...commands.flatMap(({ name, options }) => {
      const pattern = name.includes(' ') ? `"${name}"` : `"${name} "*`;
      return flagsOf(options).length > 0
        ? [`    ${pattern}) words="${[...flagsOf(options), ...flagsOf(everywhere)].join(' ')}" ;;`]
        : [];
    }),
    `    *) words="${flagsOf(everywhere).join(' ')}" ;;`,
  ].join('\n');
}

function bashScript(commands: readonly Completed[], everywhere: Options): string {
  return `# Completion of lodestone for bash: source <(lodestone completion bash)
_lodestone() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${firstWords(commands).join(' ')} help version" -- "$current"))
    return
  fi
  local second="\${COMP_WORDS[2]}"
  [ "$COMP_CWORD" -eq 2 ] && second=""
  case "\${COMP_WORDS[1]} $second" in
${casesOf(commands, everywhere)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # A value is a file more often than not.
  case "$current" in --*) ;; *) [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current")) ;; esac
}
complete -F _lodestone lodestone
`;
}

function zshScript(commands: readonly Completed[], everywhere: Options): string {
  return `#compdef lodestone
# Completion of lodestone for zsh: source <(lodestone completion zsh), or this file as _lodestone in a folder of fpath
_lodestone() {
  local words_before="\${words[2]} \${words[3]}" candidates
  if (( CURRENT == 2 )); then
    compadd -- ${firstWords(commands).join(' ')} help version
    return
  fi
  (( CURRENT == 3 )) && words_before="\${words[2]} "
  local words_after
  case "$words_before" in
${casesOf(commands, everywhere).replaceAll('words=', 'words_after=')}
  esac
  if [[ "$PREFIX" == --* || "$CURRENT" == 3 ]]; then compadd -- \${=words_after}; else _files; fi
}
if [ "$funcstack[1]" = "_lodestone" ]; then _lodestone "$@"; else compdef _lodestone lodestone; fi
`;
}

function fishScript(commands: readonly Completed[], everywhere: Options): string {
  const text = (summary: string) =>
    `'${summary
      .split(/[.:;]\s/)[0]!
      .replaceAll("'", "\\'")
      .replace(/\.$/, '')}'`;
  const first = firstWords(commands);
  const lines = [
    '# Completion of lodestone for fish: lodestone completion fish | source',
    'complete -c lodestone -n __fish_use_subcommand -f',
    ...first.map((word) => {
      const alone = commands.find(({ name }) => name === word);
      const about = alone ? text(alone.summary) : `'${secondWords(commands, word).join(', ')}'`;
      return `complete -c lodestone -n __fish_use_subcommand -a ${word} -d ${about}`;
    }),
  ];
  for (const { name, summary, options } of commands) {
    const [word, second] = name.split(' ');
    const seen = `__fish_seen_subcommand_from ${word}`;
    if (second) {
      const others = secondWords(commands, word!).join(' ');
      lines.push(
        `complete -c lodestone -n '${seen}; and not __fish_seen_subcommand_from ${others}' -f -a ${second} -d ${text(summary)}`,
      );
    }
    const condition = second ? `${seen}; and __fish_seen_subcommand_from ${second}` : seen;
    for (const [option, { type }] of Object.entries(options ?? {}))
      lines.push(`complete -c lodestone -n '${condition}' -l ${option}${type === 'string' ? ' -r' : ''}`);
  }
  for (const [option, { type }] of Object.entries(everywhere))
    lines.push(`complete -c lodestone -l ${option}${type === 'string' ? ' -r' : ''}`);
  return `${lines.join('\n')}\n`;
}
