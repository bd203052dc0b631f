// The graph as a whole: an entity to look for, and communities; a large graph is never drawn at once.
import { useState } from 'preact/hooks';
import { GraphExplorer } from '../graph/explorer';
import { useCall } from '../load';
import { Button } from '../parts/button';
import { TextField } from '../parts/field';
import { List } from '../parts/list';
import { EntityLink } from '../parts/memory';
import { Nothing, WhenLoaded } from '../parts/status';
import { beginning, count, PlainText } from '../parts/text';
import { link } from '../place';
import type { Params } from '../routes';
import type { Community, Entity } from '../types';

const PAGE = 30;
const MOST_FOUND = 20;
/** Communities among which the one that is opened is looked for. */
const MOST_OPENED = 1000;
/** Most members of a community that are drawn; the most central come first. */
const MOST_DRAWN = 60;

export default function Graph({ params }: { params: Params }) {
  const [text, setText] = useState('');
  const [most, setMost] = useState(PAGE);
  const found = useCall<Entity[]>('entities', { containing: text.trim() || undefined, limit: MOST_FOUND }, { keep: true });
  const communities = useCall<Community[]>('communities', params.community ? { limit: MOST_OPENED, members: MOST_DRAWN } : { limit: most + 1, members: 5 }, {
    keep: true,
  });
  const opened = communities.value?.find((one) => one.id === params.community);
  if (params.community) {
    return (
      <WhenLoaded of={communities}>
        {() => (opened ? <Opened of={opened} /> : <Nothing>There is no such community now. <a href={link('/graph')}>All communities</a></Nothing>)}
      </WhenLoaded>
    );
  }
  return (
    <>
      <h1>Graph</h1>
      <TextField label="Find an entity" type="search" value={text} onInput={setText} />
      <h2>{text.trim() ? 'Found' : 'Most mentioned'}</h2>
      <WhenLoaded of={found}>
        {(rows) =>
          rows.length ? (
            <List label="Entities" rows={rows} id={(row) => row.id}>
              {(row, primary) => (
                <>
                  <EntityLink name={row.name} id={row.id} primary={primary} />
                  <p class="marks">
                    <PlainText>{beginning(row.type, 40)}</PlainText>
                    <span>{count(row.mention_count, 'text')}</span>
                    {row.aliases.length > 0 && <PlainText>{`also ${beginning(row.aliases.join(', '), 100)}`}</PlainText>}
                  </p>
                </>
              )}
            </List>
          ) : (
            <Nothing>No entity has this in its names.</Nothing>
          )
        }
      </WhenLoaded>
      <h2>Communities</h2>
      <WhenLoaded of={communities}>
        {(rows) =>
          rows.length ? (
            <>
              <List label="Communities" rows={rows.slice(0, most)} id={(row) => row.id}>
                {(row, primary) => (
                  <>
                    <a href={link('/graph', { community: row.id })} {...primary}>
                      <PlainText>{beginning(row.name || row.central.join(', '), 120)}</PlainText>
                    </a>
                    <p class="marks">
                      <span>{count(row.entities, 'entity', 'entities')}</span>
                      <span>{count(row.chunks, 'text')}</span>
                      <PlainText>{beginning(row.summary || row.members.slice(0, 5).join(', '), 200)}</PlainText>
                    </p>
                  </>
                )}
              </List>
              {rows.length > most && (
                <div class="actions">
                  <span class="quiet">{`The ${most} largest are shown.`}</span>
                  <Button onClick={() => setMost(most + PAGE)}>Show more</Button>
                </div>
              )}
            </>
          ) : (
            <Nothing>There are no communities: no entities are joined yet.</Nothing>
          )
        }
      </WhenLoaded>
    </>
  );
}

function Opened({ of }: { of: Community }) {
  return (
    <>
      <h1>
        <PlainText>{beginning(of.name || of.central.join(', '), 120)}</PlainText>
      </h1>
      <p>
        {count(of.entities, 'entity', 'entities')}, {count(of.chunks, 'text')}. <a href={link('/graph')}>All communities</a>
      </p>
      {of.summary && (
        <p>
          <PlainText>{of.summary}</PlainText>
        </p>
      )}
      {of.entities > of.members.length && <p class="quiet">{`${of.members.length} of ${of.entities} entities shown: the most central.`}</p>}
      <GraphExplorer key={of.id} members={of.members} />
    </>
  );
}
