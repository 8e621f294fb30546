import { render } from 'preact';
import { App } from './frame/app.tsx';

const place = document.getElementById('console');
if (place !== null) render(<App />, place);
