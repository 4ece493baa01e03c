/**
 * A component in a chunk of its own, which begins to load together with the file that names it, not when it is first shown. It does without
 * Suspense, because React shows what suspended 300 ms after its placeholder at the earliest.
 */
import { type ComponentType, type ReactNode, useSyncExternalStore } from 'react';

export function loadedApart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props & { placeholder: ReactNode }> {
  let state: { Loaded?: ComponentType<Props>; error?: unknown } = {};
  const listeners = new Set<() => void>();
  const change = (next: typeof state) => {
    state = next;
    for (const listener of listeners) listener();
  };
  load().then(
    (Loaded) => change({ Loaded }),
    (error: unknown) => change({ error }),
  );
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return function LoadedApart({ placeholder, ...props }) {
    const { Loaded, error } = useSyncExternalStore(subscribe, () => state);
    // The page says that it could not be shown.
    if (error !== undefined) throw error;
    return Loaded ? <Loaded {...(props as unknown as Props)} /> : placeholder;
  };
}
