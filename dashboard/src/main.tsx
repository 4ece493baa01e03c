/** Starts the dashboard. */
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient, sessionQuery } from './api/queries.js';
import { Toasts } from './components/toast.js';
import { router } from './router.js';
import './styles/index.css';

// Every page needs it, so it is asked for before anything is rendered.
void queryClient.prefetchQuery(sessionQuery);

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Toasts>
        <RouterProvider router={router} />
      </Toasts>
    </QueryClientProvider>
  </StrictMode>,
);
