// Applies a chosen theme before the first paint. A file of its own, because the Content-Security-Policy forbids inline scripts.
(() => {
  try {
    const theme = localStorage.getItem('lodestone-theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is blocked: the system's theme applies.
  }
})();
