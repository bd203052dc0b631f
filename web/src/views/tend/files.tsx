// Curated files in an editor, and the documents that were ingested.
import { useState } from 'preact/hooks';
import { isReadOnly } from '../../api';
import { useChange } from '../../changes';
import { useCall } from '../../load';
import { Button, ConfirmButton } from '../../parts/button';
import { Nothing, WhenLoaded } from '../../parts/status';
import { beginning, PlainText, Time } from '../../parts/text';
import type { Curated, Document } from '../../tend/types';
import { CuratedEditor } from './curated_editor';

const PAGE = 50;

export default function Files() {
  const files = useCall<Curated[]>('curated', {});
  return (
    <>
      <h1>Files</h1>
      <p class="quiet">Curated files go into an agent's prompts as they are. Entries are parted by a line that holds only §.</p>
      <WhenLoaded of={files}>
        {(rows) => (
          <>
            {rows.map((file) => (
              <CuratedEditor key={file.path} of={file} onRead={files.again} />
            ))}
          </>
        )}
      </WhenLoaded>
      <section aria-labelledby="documents">
        <h2 id="documents">Documents</h2>
        <Documents />
      </section>
    </>
  );
}

function Documents() {
  const [offset, setOffset] = useState(0);
  const rows = useCall<Document[]>('documents', { limit: PAGE + 1, offset });
  const change = useChange();
  return (
    <WhenLoaded of={rows}>
      {(found) => (
        <>
          {found.length === 0 && (
            <Nothing>
              No documents. <code>hydramem ingest PATH</code> reads files and folders.
            </Nothing>
          )}
          <ul class="list" aria-label="Documents">
            {found.slice(0, PAGE).map((row) => (
              <li key={row.id}>
                <div class="row">
                  <PlainText>{beginning(row.title || row.source, 200)}</PlainText>
                  <p class="marks">
                    <span class="mark">{row.source_type}</span>
                    <Time at={row.times.recorded_at} />
                    <PlainText>{beginning(row.source, 200)}</PlainText>
                  </p>
                </div>
                {!isReadOnly() && (
                  <ConfirmButton
                    look="danger"
                    label={`Forget ${beginning(row.title || row.source)}`}
                    ask="Forget this document and its passages?"
                    yes="Forget"
                    onConfirm={() => void change('forget', { ids: [row.id] }, `Forgotten: ${beginning(row.title || row.source)}`)}
                  >
                    Forget
                  </ConfirmButton>
                )}
              </li>
            ))}
          </ul>
          {(offset > 0 || found.length > PAGE) && (
            <div class="actions">
              <Button disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - PAGE))}>
                Newer
              </Button>
              <Button disabled={found.length <= PAGE} onClick={() => setOffset(offset + PAGE)}>
                Older
              </Button>
            </div>
          )}
        </>
      )}
    </WhenLoaded>
  );
}
