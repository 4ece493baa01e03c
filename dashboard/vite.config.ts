/** Builds the dashboard into dashboard/dist, to be served below /dashboard/ with nothing inline. */
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm run dev -w dashboard` finds a running gateway. */
const gateway = process.env.LODESTONE_URL ?? 'http://127.0.0.1:8787';

export default defineConfig({
  base: '/dashboard/',
  plugins: [react(), tailwindcss()],
  build: {
    manifest: true,
    // Data addresses would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // How long each plugin took is no warning: on a busy machine every build would print it.
    rolldownOptions: { checks: { pluginTimings: false, bundlerTimings: false } },
  },
  server: {
    // The gateway refuses what does not come from its own pages, so in development the proxy says that it does.
    proxy: { '/dashboard/api': { target: gateway, headers: { origin: gateway } } },
  },
});
