package dev.isola.client.wrong;

import dev.isola.dashboard.DashboardApi;

/** Violates a dependency rule: only app uses the dashboard. */
final class DashboardUser {
  Class<?> forbidden() {
    return DashboardApi.class;
  }
}
