/** Previews a draft policy for a model, shortly after the last change. The previous preview stays until the next one arrives. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.js';
import type { PolicyPreview, RoutingPolicy } from '../../api/types.js';

const pauseMs = 150;

/** With a project, the policy is that project's, and the account's holds too. */
export function usePreview(model: string, policy: RoutingPolicy, project?: string) {
  const wanted = JSON.stringify({ model, policy, project });
  const [asked, setAsked] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), pauseMs);
    return () => clearTimeout(timer);
  }, [wanted]);
  return useQuery({
    queryKey: ['policy-preview', asked],
    queryFn: ({ signal }) =>
      api<PolicyPreview>('policy/preview', { method: 'POST', body: JSON.parse(asked) as object, signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });
}
