package dev.isola.compat.mcp;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resources of a hosted server that sessions have subscribed to; the oldest are forgotten. */
final class Subscriptions {
  private static final int MAX_URI = 4096;

  private record Subscription(String session, String uri) {}

  private final Map<Subscription, Boolean> all =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Subscription, Boolean> eldest) {
          return size() > HostingLimits.MAX_SUBSCRIPTIONS;
        }
      };

  synchronized void add(String session, String uri) {
    if (uri.length() <= MAX_URI) {
      all.put(new Subscription(session, uri), true);
    }
  }

  /** Removes a subscription. Returns whether another session has subscribed to the resource. */
  synchronized boolean remove(String session, String uri) {
    all.remove(new Subscription(session, uri));
    return all.keySet().stream().anyMatch(one -> one.uri().equals(uri));
  }

  synchronized List<String> sessions(String uri) {
    return all.keySet().stream()
        .filter(one -> one.uri().equals(uri))
        .map(Subscription::session)
        .toList();
  }

  synchronized void end(String session) {
    all.keySet().removeIf(one -> one.session().equals(session));
  }

  synchronized void clear() {
    all.clear();
  }
}
