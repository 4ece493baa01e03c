/** Downloads the proof of a receipt, and checks it in this browser. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, isApiError } from '../../api/client.js';
import type { Generation } from '../../api/usage-types.js';
import { count } from '../../format/figures.js';
import { Button } from '../button.js';
import { Card } from '../card.js';
import { type Fact, Facts } from '../facts.js';
import { messageOf, Notice, Skeleton } from '../states.js';
import { checkProof, type ProofVerdict, type ReceiptProof } from './check-proof.js';

/** A receipt is sealed within two seconds. */
const sealedAfterMs = 2_000;
const triesMax = 5;

export function ProofCard({ generation: { id } }: { generation: Generation }) {
  const { data, error, failureReason } = useQuery({
    queryKey: ['proof', id],
    queryFn: () => api<ReceiptProof>(`v1/generation/${encodeURIComponent(id)}/proof`),
    retry: (count, failure) => isNotSealed(failure) && count < triesMax,
    retryDelay: sealedAfterMs,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Card description="Evidence that this receipt was recorded and has not been changed since." title="Proof">
      {data ? (
        <Proof id={id} proof={data} />
      ) : error || failureReason ? (
        // While it is asked for again, the reason is shown instead of a placeholder.
        <p className="text-ink-3">{reasonOf(error ?? failureReason)}</p>
      ) : (
        <Skeleton className="h-16" />
      )}
    </Card>
  );
}

function reasonOf(error: unknown): string {
  return isNotSealed(error) ? 'This receipt is not in the log yet.' : messageOf(error);
}

const isNotSealed = (error: unknown) => isApiError(error) && error.code === 'receipt_not_sealed';

function Proof({ id, proof }: { id: string; proof: ReceiptProof }) {
  const checking = useMutation({ mutationFn: () => checkProof(proof) });
  return (
    <div className="flex flex-col gap-4">
      <Facts facts={factsOf(proof)} />
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => save(`${id}.proof.json`, proof)}>Download proof</Button>
        <Button busy={checking.isPending} onClick={() => checking.mutate()}>
          Check it here
        </Button>
      </div>
      <div aria-live="polite">
        {checking.data && <Verdict verdict={checking.data} />}
        {checking.error && (
          <Notice tone="warn">
            This browser cannot check the signature. Download the proof and run{' '}
            <code>lodestone receipt verify {id}.proof.json</code>.
          </Notice>
        )}
      </div>
    </div>
  );
}

function Verdict({ verdict: { fault, origin } }: { verdict: ProofVerdict }) {
  if (fault !== null) return <Notice>{fault} Download the proof and send it to your operator.</Notice>;
  return (
    <Notice tone="good">
      The proof holds: the receipt is in the log {origin}, and the log’s key signed it. Compare the key with one that
      you got elsewhere.
    </Notice>
  );
}

function factsOf({ receipt, leaf_index: index, tree_size: size, verifier_key: key }: ReceiptProof): Fact[] {
  const {
    catalogue,
    request_sha256: request,
    answer_sha256: answer,
  } = JSON.parse(receipt) as Record<string, string | null>;
  const hash = (text: string | null | undefined) => (text ? <code className="text-xs">{text}</code> : 'Not recorded');
  return [
    { name: 'Log entry', value: `${count(index + 1)} of ${count(size)} (leaf ${count(index)})` },
    { name: 'Catalogue', value: hash(catalogue) },
    { name: 'Request, SHA-256', value: hash(request) },
    { name: 'Answer, SHA-256', value: hash(answer) },
    { name: 'Key', value: <code className="text-xs">{key}</code> },
  ];
}

function save(name: string, proof: ReceiptProof): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([JSON.stringify(proof, null, 2)], { type: 'application/json' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
