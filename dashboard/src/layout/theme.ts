/** The theme: the system's, or the one chosen here and kept in this browser (public/theme.js applies it before the first paint). */
import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const storageKey = 'lodestone-theme';
const listeners = new Set<() => void>();
const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

const chosen = (): Theme => (document.documentElement.dataset.theme as Theme | undefined) ?? 'system';
const resolved = (): 'light' | 'dark' => {
  const theme = chosen();
  return theme === 'system' ? (systemDark.matches ? 'dark' : 'light') : theme;
};

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === 'system') localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, theme);
  } catch {
    // Storage is blocked: the choice lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  systemDark.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    systemDark.removeEventListener('change', listener);
  };
}

export const useTheme = () => useSyncExternalStore(subscribe, chosen);

/** The theme on the screen; canvases redraw when it changes. */
export const useResolvedTheme = () => useSyncExternalStore(subscribe, resolved);
