// The history of one thing: each change with its difference, who made it and why, and a way to take it back.
import { isReadOnly } from '../api';
import { useChange } from '../changes';
import { difference } from '../difference';
import type { FieldChange, History, MemoryVersion } from '../types';
import { ConfirmButton } from './button';
import { MemoryLink } from './memory';
import { PlainText, Time } from './text';

export interface HistoryListProps {
  of: History;
  /** Called where the creation is undone, before the view reads again what is no longer there. */
  onGone?: () => void;
}

export function HistoryList({ of, onGone }: HistoryListProps) {
  const change = useChange();
  return (
    <ol class="list history" aria-label="History">
      {of.entries.map((entry, index) => (
        <li key={`${entry.at} ${index}`}>
          <div class="row">
            <p class="marks">
              <strong>{entry.operation}</strong>
              <Time at={entry.at} />
              {entry.actor && <span>by {entry.actor}</span>}
              {entry.created && <span class="mark">created</span>}
            </p>
            {entry.reason && (
              <p>
                <PlainText>{entry.reason}</PlainText>
              </p>
            )}
            {!entry.created && entry.fields.length > 0 && (
              <dl class="facts">
                {entry.fields.map((field) => (
                  <Field key={field.field} of={field} />
                ))}
              </dl>
            )}
          </div>
          {entry.run !== null && !isReadOnly() && (
            <ConfirmButton
              label={`Undo ${entry.operation}`}
              ask="Undo all that this call changed, here and elsewhere?"
              yes="Undo it"
              onConfirm={() => void change('undo', { id: entry.run }, `Undone: ${entry.operation}`, entry.created && onGone ? { onDone: onGone } : {})}
            >
              Undo
            </ConfirmButton>
          )}
        </li>
      ))}
    </ol>
  );
}

function Field({ of }: { of: FieldChange }) {
  return (
    <>
      <dt>{of.field.replaceAll('_', ' ')}</dt>
      <dd>
        <Difference before={of.before ?? ''} after={of.after ?? ''} />
      </dd>
    </>
  );
}

/** The texts that a memory had, the newest first, each with its difference from the one before. */
export function VersionList({ of, shown }: { of: MemoryVersion[]; shown: string }) {
  return (
    <ol class="list" aria-label="Versions" reversed>
      {of
        .map((version, index) => ({ version, before: of[index - 1] }))
        .reverse()
        .map(({ version, before }) => (
          <li key={version.id} aria-current={version.id === shown ? 'true' : undefined}>
            <div class="row">
              <Difference before={before?.text ?? version.text} after={version.text} />
              <p class="marks">
                <span>
                  recorded <Time at={version.recorded_at} />
                </span>
                {version.ended_at && (
                  <span>
                    until <Time at={version.ended_at} />
                  </span>
                )}
                {version.state !== 'active' && <span class={`mark state-${version.state}`}>{version.state}</span>}
                {version.id === shown ? <strong>this version</strong> : <MemoryLink id={version.id} />}
              </p>
            </div>
          </li>
        ))}
    </ol>
  );
}

/** Two texts in one, with what was removed and what was added marked for the eye and for screen readers. */
export function Difference({ before, after }: { before: string; after: string }) {
  return (
    <span class="difference" dir="auto">
      {difference(before, after).map((piece, index) => {
        if (piece.kind === 'same') return <PlainText key={index}>{piece.text}</PlainText>;
        const Tag = piece.kind === 'added' ? 'ins' : 'del';
        return (
          <Tag key={index}>
            <span class="hidden">{piece.kind}: </span>
            <PlainText>{piece.text}</PlainText>
          </Tag>
        );
      })}
    </span>
  );
}
