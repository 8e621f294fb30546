import { render } from 'preact';
import { App } from './frame/app.tsx';
import { joinSession } from './session.ts';

const place = document.getElementById('console');
if (place !== null) {
  void joinSession().then(() => {
    render(<App />, place);
  });
}
