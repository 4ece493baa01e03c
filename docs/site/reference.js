/* Starts the API reference over /openapi.json. Every setting that would make it ask another host is off. */
const root = document.documentElement;
const isDark = () => {
  const { theme } = root.dataset;
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};

const reference = window.Scalar.createApiReference('#content', {
  url: '/openapi.json',
  theme: 'none',
  layout: 'modern',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  hideDarkModeToggle: true,
  hideModels: true,
  defaultOpenAllTags: true,
  forceDarkModeState: isDark() ? 'dark' : 'light',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'apiKey' },
});

const follow = () => {
  document.body.classList.toggle('dark-mode', isDark());
  document.body.classList.toggle('light-mode', !isDark());
  reference.updateConfiguration?.({
    ...reference.getConfiguration?.(),
    forceDarkModeState: isDark() ? 'dark' : 'light',
  });
};
new MutationObserver(follow).observe(root, { attributeFilter: ['data-theme'] });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', follow);

/* Its copy buttons have no name that a screen reader could say. */
const nameButtons = () => {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy the code');
  }
};
let isDue = false;
new MutationObserver(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    nameButtons();
  });
}).observe(document.querySelector('#content'), { childList: true, subtree: true });
