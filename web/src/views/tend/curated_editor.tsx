// One curated file in a text area; what another program wrote meanwhile is never overwritten unseen.
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CallError, callToChange, isReadOnly, project } from '../../api';
import { notify, useChange, version } from '../../changes';
import { Button } from '../../parts/button';
import { PlainText } from '../../parts/text';
import { charsOf, DELIMITER, entriesOf, problemOf, type Problem } from '../../tend/curated_text';
import type { Curated } from '../../tend/types';

/** A text that is not saved, and the version of the file that it began with. */
interface Draft {
  text: string;
  base: string;
}

/** Texts that are not saved, by path: they stay when another view is shown. */
const drafts = new Map<string, Draft>();

addEventListener('beforeunload', (event) => {
  if (drafts.size) event.preventDefault();
});

const NAMES = { memory: 'MEMORY.md', user: 'USER.md' } as const;
const textOf = (file: Curated): string => file.entries.join(DELIMITER);

export function CuratedEditor({ of: given, onRead }: { of: Curated; onRead: () => void }) {
  const [file, setFile] = useState(given);
  const [draft, setDraft] = useState<Draft | null>(drafts.get(given.path) ?? null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const change = useChange();
  // An undo writes this file, also where another project is shown by then.
  const [within] = useState(() => project.value ?? undefined);
  useLayoutEffect(() => setFile(given), [given]);
  useLayoutEffect(() => {
    addEventListener('focus', onRead); // it may have been edited while another window was in front
    return () => removeEventListener('focus', onRead);
  }, []);
  const name = NAMES[file.target];
  const text = draft?.text ?? textOf(file);
  const overtaken = draft !== null && draft.base !== file.version;
  const entries = entriesOf(text);
  const chars = charsOf(entries);

  const write = (next: string, base = draft?.base ?? file.version): void => {
    setDraft({ text: next, base });
    drafts.set(file.path, { text: next, base });
  };
  const take = (read: Curated): void => {
    drafts.delete(file.path);
    setDraft(null);
    setFile(read);
    setProblem(null);
  };
  const save = async (): Promise<void> => {
    if (draft === null || overtaken || isReadOnly()) return;
    setProblem(null);
    const before = file.entries;
    try {
      const given = entries.map((entry) => entry.text);
      const { result } = await callToChange<Curated>('curate', { target: file.target, entries: given, expect: draft.base, project: within });
      take(result);
      const back = (): Promise<unknown> => change('curate', { target: file.target, entries: before, expect: result.version, project: within }, `Undone: ${name} is as it was.`);
      notify(result.changed ? `${name} is saved.` : `${name} holds this already.`, { back: result.changed ? back : null });
      version.value += 1;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (error.message.startsWith('expect:')) onRead(); // what was written meanwhile is shown beside the text
      else setProblem(problemOf(error.message, entries));
    }
  };
  const goTo = (line: number): void => {
    const start = text.split('\n').slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void save();
  };
  return (
    <section aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <label for={id}>{name}</label>
      </h2>
      {file.problems.map((one) => (
        <p key={one} class="warning">
          <PlainText>{one}</PlainText>
        </p>
      ))}
      {overtaken && <Overtaken name={name} theirs={textOf(file)} onTake={() => take(file)} onKeep={() => write(text, file.version)} />}
      <textarea
        id={id}
        ref={area}
        class="editor"
        value={text}
        readOnly={isReadOnly()}
        dir="auto"
        spellcheck={false}
        rows={Math.min(24, Math.max(6, text.split('\n').length + 1))}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-chars ${id}-problem`}
        aria-keyshortcuts="Control+S"
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={keys}
      />
      <p id={`${id}-chars`} class={chars > file.limit ? 'warning' : 'quiet'}>
        {chars.toLocaleString('en-GB')} of {file.limit.toLocaleString('en-GB')} characters, {entries.length} {entries.length === 1 ? 'entry' : 'entries'}
        {chars > file.limit && ': too long to be saved'}
      </p>
      <div id={`${id}-problem`} role="alert">
        {problem && (
          <p class="warning">
            {problem.line !== null && (
              <Button look="link" onClick={() => goTo(problem.line!)}>
                Line {problem.line}
              </Button>
            )}{' '}
            <PlainText>{problem.message}</PlainText>
          </p>
        )}
      </div>
      {!isReadOnly() && (
        <div class="actions">
          <Button look="primary" label={`Save ${name}`} disabled={draft === null || overtaken} onClick={() => void save()}>
            Save
          </Button>
          <Button label={`Discard what you wrote in ${name}`} disabled={draft === null} onClick={() => take(file)}>
            Discard
          </Button>
        </div>
      )}
    </section>
  );
}

interface OvertakenProps {
  name: string;
  theirs: string;
  onTake: () => void;
  onKeep: () => void;
}

/** Says that the file changed since it was read, and shows what it holds now. */
function Overtaken({ name, theirs, onTake, onKeep }: OvertakenProps) {
  return (
    <div class="failure" role="alert">
      <p>{name} changed on disk since you read it. It now holds:</p>
      <blockquote>{theirs ? <PlainText>{theirs}</PlainText> : 'nothing'}</blockquote>
      <div class="actions">
        <Button onClick={onTake}>Take what it holds now</Button>
        <Button onClick={onKeep}>Keep my text, to save it over this</Button>
      </div>
    </div>
  );
}
