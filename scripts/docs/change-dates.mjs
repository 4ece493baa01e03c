/** When each file below docs/ was last changed, from the history of the repository; empty where there is none. */
import { execFileSync } from 'node:child_process';

/** Dates such as 2026-11-17, by path. */
export function changeDates(root) {
  const dates = new Map();
  let log = '';
  try {
    const args = ['log', '--format=@%cs', '--name-only', '--', 'docs/guide', 'docs/behaviour'];
    log = execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // A package or an archive has no history.
  }
  let date = '';
  for (const line of log.split('\n')) {
    if (line.startsWith('@')) date = line.slice(1);
    else if (line !== '' && !dates.has(line)) dates.set(line, date);
  }
  return dates;
}
