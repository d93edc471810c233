// What all views know: who is signed in, and what may be used.

import { api } from "./api.js";

export const world = { user: null, catalog: { agents: [], tools: [], commands: [] } };

/** False: nobody is signed in. */
export async function readWorld() {
  world.user = await api.who();
  if (world.user) world.catalog = await api.catalog();
  return Boolean(world.user);
}

export const isAdmin = () => world.user?.role === "admin";

/** Whether calls of `owner` can be approved here: one's own by another user, or by a person whom perch serve gave a link. */
export const mayApprove = (owner) => isAdmin() && (world.user.person || owner !== world.user.name);
