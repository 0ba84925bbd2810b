import { sessions } from "./store.js";
export function App() {
  return (
    <main>
      {(sessions.value ?? []).map(({ id, title }) => (
        <p key={id}>{title ?? id}</p>
      ))}
    </main>
  );
}
