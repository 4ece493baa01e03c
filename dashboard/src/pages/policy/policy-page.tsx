/** The Routing policy page: each gate with the number of routes that it leaves of a chosen model, updated before you save. */
import { useQuery } from '@tanstack/react-query';
import { catalogueQuery, gatesQuery, policyQuery } from '../../api/queries.js';
import { Card } from '../../components/card.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { SkeletonRows } from '../../components/states.js';
import { ReadOnlyNotice } from '../../components/why-not.js';
import { PolicyEditor } from './policy-editor.js';

export function Page() {
  const policy = useQuery(policyQuery);
  const catalogue = useQuery(catalogueQuery);
  const gates = useQuery(gatesQuery);
  const skeleton = (
    <Card flush>
      <SkeletonRows rows={8} />
    </Card>
  );
  return (
    <>
      <PageHeader
        description="Gates decide which routes an auto id may use. They never affect a pinned route."
        title="Routing policy"
      />
      <ReadOnlyNotice right="settings.change" />
      <PageData query={policy} skeleton={skeleton}>
        {(saved) => (
          <PageData query={catalogue} skeleton={skeleton}>
            {(data) => (
              <PageData query={gates} skeleton={skeleton}>
                {({ data: list }) => (
                  <PolicyEditor
                    catalogue={data}
                    gates={list}
                    path="v1/routing-policy"
                    right="settings.change"
                    saved={saved}
                    stale={[['policy']]}
                  />
                )}
              </PageData>
            )}
          </PageData>
        )}
      </PageData>
    </>
  );
}
