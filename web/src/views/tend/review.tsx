// The review queue: one question after the other, answered by keys or buttons.
import { useLayoutEffect, useState } from 'preact/hooks';
import { isReadOnly } from '../../api';
import { useChange } from '../../changes';
import { useKeys } from '../../keys';
import { useCall } from '../../load';
import { Button } from '../../parts/button';
import { EntityLink, MemoryLink } from '../../parts/memory';
import { Share } from '../../parts/relevance';
import { Nothing, WhenLoaded } from '../../parts/status';
import { beginning, count, PlainText } from '../../parts/text';
import { exported } from '../../exported';
import type { Question, Reviewed } from '../../types';

const MOST = 200;
const KINDS: Readonly<Record<string, readonly [string, string]>> = {
  relation: ['open relation', 'open relations'],
  conflict: ['conflict', 'conflicts'],
  may_supersede: ['possible replacement', 'possible replacements'],
  same_entity: ['pair of entities', 'pairs of entities'],
  same_memory: ['pair of memories', 'pairs of memories'],
  quarantined: ['quarantined memory', 'quarantined memories'],
};

/** The words on the button of a choice; its first letter is its key, as in `hydramem review`. */
const CHOICES: Readonly<Record<string, string>> = {
  yes: 'Yes',
  no: 'No',
  '1': '1 holds',
  '2': '2 holds',
  both: 'Both hold',
  neither: 'Neither holds',
  replaces: 'Replaces it',
  older: 'Older one holds',
};

export default function Review() {
  const reads = !isReadOnly() || exported !== null;
  const queue = useCall<Reviewed>('review', reads ? { limit: MOST } : null);
  if (!reads) {
    return (
      <>
        <h1>Review</h1>
        <Nothing>This memory is opened for reading only: questions can be answered where it can be written.</Nothing>
      </>
    );
  }
  return (
    <>
      <h1>Review</h1>
      <p class="quiet">What only a person can decide, the most uncertain first. The first letter of an answer is its key; s skips.</p>
      <WhenLoaded of={queue}>{(value) => <Queue of={value} />}</WhenLoaded>
    </>
  );
}

function Queue({ of: queue }: { of: Reviewed }) {
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  const [sent, setSent] = useState<string | null>(null);
  const change = useChange();
  useLayoutEffect(() => setSent(null), [queue]); // read again: what was sent is no longer open, or open still
  const open = queue.questions.filter((one) => !skipped.has(one.id) && one.id !== sent);
  const question = open[0];
  const answer = async (choice: string): Promise<void> => {
    if (!question || sent !== null || isReadOnly()) return;
    setSent(question.id);
    const given = choice === 'yes' || choice === 'no' ? { yes: choice === 'yes' } : { choice };
    const done = await change<Reviewed>('review', { answers: [{ id: question.id, ...given }], limit: 1 }, (result) =>
      result.answered ? `${CHOICES[choice] ?? choice}: ${beginning(question.text)}` : `Not taken: ${result.not_taken[0]?.why ?? ''}`,
    );
    if (done === null) setSent(null);
  };
  const skip = (): void => {
    if (question) setSkipped(new Set([...skipped, question.id]));
  };
  useKeys([
    ...(question && !isReadOnly() ? question.choices : []).map((choice) => ({ key: choice[0]!, words: CHOICES[choice] ?? choice, run: () => void answer(choice) })),
    { key: 's', words: 'Skip', run: skip },
  ]);
  return (
    <>
      <Counts of={queue} />
      {question ? (
        <One of={question} left={open.length} onAnswer={(choice) => void answer(choice)} onSkip={skip} />
      ) : skipped.size ? (
        <Nothing>
          Every question left was skipped. <Button onClick={() => setSkipped(new Set())}>Ask them again</Button>
        </Nothing>
      ) : (
        <Nothing>There are no open questions.</Nothing>
      )}
    </>
  );
}

function Counts({ of }: { of: Reviewed }) {
  const kinds = new Map<string, number>();
  for (const one of of.questions) kinds.set(one.kind, (kinds.get(one.kind) ?? 0) + 1);
  const shown = of.waiting > of.questions.length ? ` (${of.questions.length} of them are here)` : '';
  return (
    <p role="status">
      <strong>{count(of.waiting, 'open question')}</strong>
      {shown}
      {kinds.size > 0 && ': '}
      {[...kinds].map(([kind, number]) => count(number, ...(KINDS[kind] ?? [kind, kind]))).join(', ')}
    </p>
  );
}

interface OneProps {
  of: Question;
  left: number;
  onAnswer: (choice: string) => void;
  onSkip: () => void;
}

function One({ of: one, left, onAnswer, onSkip }: OneProps) {
  return (
    <section class="question" aria-label="Question">
      <div aria-live="polite">
        <p class="marks">
          <span class="mark">{KINDS[one.kind]?.[0] ?? one.kind}</span>
          <span>{count(left, 'question')} left</span>
          {one.probability !== null && <Share value={one.probability} label="likely" />}
        </p>
        <h2>
          <PlainText>{one.text}</PlainText>
        </h2>
        <p>
          <PlainText>{one.reason}</PlainText>
        </p>
      </div>
      {one.evidence.length > 0 && (
        <>
          <h3>Evidence</h3>
          <ul class="evidence">
            {one.evidence.map((text, index) => (
              <li key={index}>
                <PlainText>{text}</PlainText>
              </li>
            ))}
          </ul>
        </>
      )}
      <About of={one} />
      <div class="actions">
        {!isReadOnly() &&
          one.choices.map((choice) => (
            <Button key={choice} keys={choice[0]!} onClick={() => onAnswer(choice)}>
              {CHOICES[choice] ?? choice}
            </Button>
          ))}
        <Button keys="s" onClick={onSkip}>
          Skip
        </Button>
      </div>
    </section>
  );
}

/** Links to what the question is about; relations have no view of their own. */
function About({ of: one }: { of: Question }) {
  const entities = one.kind === 'same_entity';
  if (!entities && one.kind !== 'may_supersede' && one.kind !== 'same_memory' && one.kind !== 'quarantined') return null;
  return (
    <ul class="marks">
      {one.rows.map((id, index) => {
        const name = `Open ${entities ? 'entity' : 'memory'}${one.rows.length > 1 ? ` ${index + 1}` : ''}`;
        return <li key={id}>{entities ? <EntityLink id={id} name={name} /> : <MemoryLink id={id} text={name} />}</li>;
      })}
    </ul>
  );
}
