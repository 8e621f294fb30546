import { render } from 'preact';
import { App } from './frame/app.tsx';
import { rememberPositions } from './place.ts';
import { joinSession } from './session.ts';

rememberPositions();
const place = document.getElementById('console');
if (place !== null) {
  void joinSession().then(() => {
    render(<App />, place);
  });
}
