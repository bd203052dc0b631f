// Starts the page.
import { render } from 'preact';
import { hasAccess, loadPage, takeToken } from './api';
import { App } from './app';
import { handleKey } from './keyboard';
import { readPlace } from './place';
import './theme';

takeToken();
readPlace();
addEventListener('keydown', handleKey);
render(<App />, document.getElementById('app')!);
if (hasAccess()) loadPage().catch(() => undefined); // the shell shows why, and offers to try again
