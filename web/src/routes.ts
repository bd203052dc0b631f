// The views of the page: one row each.
import { computed } from '@preact/signals';
import type { ComponentType } from 'preact';
import { place } from './place';
import EntityPage from './views/entity';
import Graph from './views/graph';
import Memories from './views/memories';
import Memory from './views/memory';
import Overview from './views/overview';
import Search from './views/search';
import Sessions from './views/sessions';
import Conflicts from './views/tend/conflicts';
import Files from './views/tend/files';
import Garden from './views/tend/garden';
import Review from './views/tend/review';
import Stats from './views/tend/stats';
import Timeline from './views/timeline';

/** Parts of the path and of the query by name, such as `{id}` of `#/memory/ID` and `{q}` of `#/search?q=`. */
export type Params = Readonly<Record<string, string>>;

export interface Route {
  /** Such as `/memory/:id`. */
  path: string;
  title: string;
  /** The letter that opens it after `g`; a route without one is not in the navigation. */
  key?: string;
  component: ComponentType<{ params: Params }>;
}

export const routes: readonly Route[] = [
  { path: '/', title: 'Overview', key: 'o', component: Overview },
  { path: '/search', title: 'Search', key: 's', component: Search },
  { path: '/memories', title: 'Memories', key: 'm', component: Memories },
  { path: '/memory/:id', title: 'Memory', component: Memory },
  { path: '/graph', title: 'Graph', key: 'g', component: Graph },
  { path: '/entity/:id', title: 'Entity', component: EntityPage },
  { path: '/timeline', title: 'Timeline', key: 't', component: Timeline },
  { path: '/sessions', title: 'Sessions', key: 'e', component: Sessions },
  { path: '/conflicts', title: 'Conflicts', key: 'c', component: Conflicts },
  { path: '/review', title: 'Review', key: 'r', component: Review },
  { path: '/garden', title: 'Garden', key: 'n', component: Garden },
  { path: '/curated', title: 'Files', key: 'f', component: Files },
  { path: '/stats', title: 'Statistics', key: 'a', component: Stats },
];

/** The route that is shown with its parameters; null where the address names none. */
export const current = computed(() => {
  const mark = place.value.indexOf('?');
  const path = mark < 0 ? place.value : place.value.slice(0, mark);
  const query = mark < 0 ? '' : place.value.slice(mark + 1);
  for (const route of routes) {
    const params = matched(route.path, path);
    if (params) return { route, path, params: { ...Object.fromEntries(new URLSearchParams(query)), ...params } };
  }
  return null;
});

function matched(pattern: string, path: string): Record<string, string> | null {
  const names = pattern.split('/');
  const parts = path.split('/');
  if (names.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [index, name] of names.entries()) {
    const part = parts[index]!;
    if (!name.startsWith(':')) {
      if (name !== part) return null;
    } else {
      try {
        params[name.slice(1)] = decodeURIComponent(part);
      } catch {
        return null; // a broken address names nothing
      }
    }
  }
  return params;
}
