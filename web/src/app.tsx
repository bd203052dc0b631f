// The frame around every view: navigation, search, theme, notices, and what is wrong with the server.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { hasAccess, loadPage, page, project, reachable, refused } from './api';
import { canUndo, dismiss, notices, undo, version } from './changes';
import { exported, type Export } from './exported';
import { PAGE_KEYS } from './keyboard';
import { helpShown, viewKeys } from './keys';
import { link } from './place';
import { current, routes } from './routes';
import { theme, type Theme } from './theme';

export function App() {
  if (!hasAccess()) return <NoToken />;
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to the content
      </a>
      <Header />
      <Trouble />
      <View />
      <Notices />
      <Help />
    </>
  );
}

/** Move the focus without a change of the address, which names the view. */
function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Header() {
  const shown = current.value?.route;
  return (
    <header>
      <a class="brand" href={link('/')}>
        HydraMem
      </a>
      <nav aria-label="Views">
        <ul>
          {routes
            .filter((route) => route.key)
            .map((route) => (
              <li key={route.path}>
                <a href={link(route.path)} aria-current={route === shown ? 'page' : undefined} aria-keyshortcuts={`g ${route.key}`}>
                  {route.title}
                </a>
              </li>
            ))}
        </ul>
      </nav>
      <div class="settings">
        <ProjectChoice />
        <label>
          <span class="hidden">Colours</span>
          <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value as Theme)}>
            <option value="system">System colours</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <button type="button" aria-keyshortcuts="?" onClick={() => (helpShown.value = true)}>
          Keys
        </button>
      </div>
    </header>
  );
}

function ProjectChoice() {
  const names = page.value?.projects ?? [];
  const all = [...new Set([...names, ...(project.value === null ? [] : [project.value])])].sort();
  if (all.length < 2) return null;
  return (
    <label>
      <span class="hidden">Project</span>
      <select value={project.value ?? ''} onChange={(event) => (project.value = event.currentTarget.value)}>
        {all.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function NoToken() {
  return (
    <main id="main" tabIndex={-1}>
      <h1>HydraMem</h1>
      <p>
        This page has no token. Run <code>hydramem view</code>, and open the address that it prints.
      </p>
    </main>
  );
}

/** Says that the server has gone or does not know the token, and tries again. */
function Trouble() {
  const retry = (): void => {
    // What failed to load is read again; a failure shows here again.
    loadPage().then(() => (version.value += 1), () => undefined);
  };
  if (!refused.value && reachable.value) return null;
  return (
    <div role="alert" class="trouble">
      <p>
        {refused.value ? 'The server does not know the token of this tab' : 'The server of this page does not answer'}. Run{' '}
        <code>hydramem view</code> again, and open the address that it prints.
      </p>
      <button type="button" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

function View() {
  const shown = current.value;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const path = shown?.path ?? '';
  useLayoutEffect(() => {
    document.title = shown ? `${shown.route.title} · HydraMem` : 'HydraMem';
    // A new view is read from its start by a screen reader, but the first one leaves the focus to the browser.
    if (first.current) first.current = false;
    else if (!main.current?.contains(document.activeElement)) main.current?.focus();
    scrollTo(0, 0);
  }, [path]);
  const Component = shown?.route.component;
  return (
    <main id="main" tabIndex={-1} ref={main}>
      {exported && <ExportNote of={exported} />}
      {Component ? (
        <Component key={path} params={shown.params} />
      ) : (
        <>
          <h1>Nothing here</h1>
          <p>
            No view has this address. <a href={link('/')}>Go to the overview</a>.
          </p>
        </>
      )}
    </main>
  );
}

/** Says that this is a copy, and what it has not. */
function ExportNote({ of }: { of: Export }) {
  return (
    <div class="note">
      <p dir="auto">This is a copy that cannot be changed, of the project {of.page.project}.</p>
      {of.left_out?.map((words) => (
        <p key={words}>{words}</p>
      ))}
    </div>
  );
}

function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite" aria-label="Notices">
      {notices.value.map((notice) => (
        <div key={notice.id} class={notice.failed ? 'notice failed' : 'notice'}>
          <p dir="auto">
            {notice.failed && <strong>Not done: </strong>}
            {notice.words}
          </p>
          {canUndo(notice) && (
            <button type="button" onClick={() => void undo(notice)}>
              Undo
            </button>
          )}
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(notice.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

/** The keys of the page and of the view, in a dialog. */
function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (helpShown.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [helpShown.value]);
  const toViews = routes.filter((route) => route.key).map((route) => ({ key: `g ${route.key}`, words: route.title }));
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={() => (helpShown.value = false)}>
      <h2 id="keys-title">Keys</h2>
      <KeyList name="Everywhere" keys={PAGE_KEYS} />
      <KeyList name="Views" keys={toViews} />
      <KeyList name="Lists" keys={LIST_KEYS} />
      {viewKeys.value.length > 0 && <KeyList name="This view" keys={viewKeys.value} />}
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}

const LIST_KEYS = [
  { key: '↓ j', words: 'Next' },
  { key: '↑ k', words: 'Previous' },
  { key: 'Enter', words: 'Open' },
  { key: 'x', words: 'Select' },
];

function KeyList({ name, keys }: { name: string; keys: readonly { key: string; words: string }[] }) {
  return (
    <section>
      <h3>{name}</h3>
      <dl class="keys">
        {keys.map((one) => (
          <div key={one.key}>
            <dt>
              <kbd>{one.key}</kbd>
            </dt>
            <dd>{one.words}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
