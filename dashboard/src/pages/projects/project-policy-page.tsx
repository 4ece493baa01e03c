/** The rules of a project, beside those of the account: a preview shows what both leave. */
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { projectPath, projectPolicyQuery, projectQuery } from '../../api/organisation.js';
import { catalogueQuery, gatesQuery } from '../../api/queries.js';
import { BackIcon } from '../../components/icons.js';
import { PageData } from '../../components/page-data.js';
import { PageHeader } from '../../components/page-header.js';
import { ReadOnlyNotice } from '../../components/why-not.js';
import { PolicyEditor } from '../policy/policy-editor.js';

export function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const project = useQuery(projectQuery(id));
  const policy = useQuery(projectPolicyQuery(id));
  const catalogue = useQuery(catalogueQuery);
  const gates = useQuery(gatesQuery);
  return (
    <>
      <PageHeader
        back={
          <Link className="text-ink-3 hover:text-ink" params={{ id }} to="/projects/$id">
            <BackIcon className="mr-1 inline size-3.5" />
            {project.data?.name ?? 'Project'}
          </Link>
        }
        description="These gates hold beside those of the account, so they can only make it stricter."
        title={project.data ? `Routing policy of ${project.data.name}` : 'Routing policy'}
      />
      <ReadOnlyNotice right="projects.manage" />
      <PageData query={policy}>
        {(saved) => (
          <PageData query={catalogue}>
            {(data) => (
              <PageData query={gates}>
                {({ data: list }) => (
                  <PolicyEditor
                    catalogue={data}
                    gates={list}
                    path={`${projectPath(id)}/routing-policy`}
                    project={id}
                    right="projects.manage"
                    saved={saved}
                    stale={[['projects', id, 'policy']]}
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
