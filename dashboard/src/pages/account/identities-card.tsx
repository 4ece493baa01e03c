/** The identity providers of this gateway: which the person has linked, and the way to link another. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import { identitiesQuery, useChange } from '../../api/queries.js';
import type { IdentityLink } from '../../api/types.js';
import { Badge } from '../../components/badge.js';
import { Button } from '../../components/button.js';
import { Card } from '../../components/card.js';
import { Notice } from '../../components/states.js';

export function IdentitiesCard() {
  const { data: links } = useQuery(identitiesQuery);
  const link = useChange(async (provider: string) => {
    const { url } = await api<{ url: string }>('identities', { method: 'POST', body: { provider } });
    window.location.assign(url);
  }, []);
  return (
    <Card description="Link an identity provider to sign in with it. You go there once." title="Single sign-on">
      <ul className="flex flex-col gap-3">
        {links?.map((each) => (
          <ProviderRow
            busy={link.isPending}
            key={each.provider}
            link={each}
            onLink={() => link.mutate(each.provider)}
          />
        ))}
      </ul>
      {link.error && (
        <div className="mt-3">
          <Notice>{link.error.message}</Notice>
        </div>
      )}
    </Card>
  );
}

function ProviderRow({ link, busy, onLink }: { link: IdentityLink; busy: boolean; onLink: () => void }) {
  return (
    <li className="flex items-center justify-between gap-3">
      <span className="min-w-0">
        <span className="block truncate">{link.name}</span>
        {link.email && <span className="block truncate text-sm text-ink-3">{link.email}</span>}
      </span>
      {link.linked ? (
        <Badge tone="good">Linked</Badge>
      ) : (
        <Button busy={busy} onClick={onLink}>
          Link<span className="sr-only"> {link.name}</span>
        </Button>
      )}
    </li>
  );
}
