/** Draws the availability of a route over 90 days: a bar for each day. Without styles of its own, which the page's policy forbids. */
import type { DailyAvailability } from '../../health/route-days.js';

const barWidth = 6;
const gap = 2;
const height = 24;
/** From these shares on a day is good, and fair. */
const grades = { good: 0.99, fair: 0.95 };

type Grade = 'good' | 'fair' | 'bad' | 'none';

export function gradeOf(availability: number): Exclude<Grade, 'none'> {
  if (availability >= grades.good) return 'good';
  return availability >= grades.fair ? 'fair' : 'bad';
}

/** Bars of one grade are one path, because a page may have thousands of them. */
export function dayBars(days: DailyAvailability, name: string, nowMs: number): string {
  const paths: Record<Grade, string> = { none: '', good: '', fair: '', bad: '' };
  for (const [index, share] of days.entries()) {
    const grade = share === null ? 'none' : gradeOf(share);
    paths[grade] += `M${index * (barWidth + gap)} 0h${barWidth}v${height}h-${barWidth}z`;
  }
  const known = days.filter((share) => share !== null);
  if (known.length === 0) return '';
  const width = days.length * (barWidth + gap) - gap;
  const drawn = Object.entries(paths).flatMap(([grade, path]) => (path ? `<path class="${grade}" d="${path}"/>` : []));
  return (
    `<figure class="days"><svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${name}: ${summaryOf(days, nowMs)}">` +
    `${drawn.join('')}</svg><figcaption><span>${days.length} days ago</span><span>${worstText(days, nowMs)}</span><span>today</span></figcaption></figure>`
  );
}

function summaryOf(days: DailyAvailability, nowMs: number): string {
  const count = (grade: Grade) => days.filter((share) => share !== null && gradeOf(share) === grade).length;
  const known = days.filter((share) => share !== null).length;
  return `${known} of ${days.length} days with figures; ${count('good')} at 99 % or more, ${count('fair')} at 95 % or more, ${count('bad')} below. ${worstText(days, nowMs)}`;
}

function worstText(days: DailyAvailability, nowMs: number): string {
  const worst = days.reduce<number | null>((low, share) => (share !== null && share < (low ?? 1) ? share : low), null);
  if (worst === null) return 'All attempts were answered';
  const at = nowMs - (days.length - 1 - days.lastIndexOf(worst)) * 86_400_000;
  return `Lowest: ${(worst * 100).toFixed(2).replace(/\.?0+$/, '')} % on ${new Date(at).toISOString().slice(0, 10)}`;
}
