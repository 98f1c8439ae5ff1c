package dev.isola.app.serve;

import dev.isola.engine.config.Config;
import dev.isola.engine.config.ConfigKeys;
import dev.isola.engine.config.ShutdownAction;
import dev.isola.store.EntryCount;
import dev.isola.store.EntryFilter;
import dev.isola.store.Ledger;
import java.util.List;

/** Log message of a server that has stopped: the sandboxes that it leaves, and how to end them. */
record ShutdownReport(Config config, Ledger ledger, ServerLog log) {
  /** Maximum number of ids listed. */
  private static final int MAX_IDS = 5;

  void write() {
    long left = ledger.sandboxes().countByState().stream().mapToLong(EntryCount::count).sum();
    if (left == 0) {
      return;
    }
    List<String> ids =
        ledger.sandboxes().list(EntryFilter.ALL.notDestroyed(), "", MAX_IDS).entries().stream()
            .map(entry -> entry.id().value())
            .toList();
    String names = String.join(", ", ids) + (left > ids.size() ? ", ..." : "");
    String count = left == 1 ? "1 sandbox" : left + " sandboxes";
    String next =
        """

        to take over what is left: isola serve
        to end it and remove all data: isola purge --data %s"""
            .formatted(config.get(ConfigKeys.DATA));
    if (config.get(ConfigKeys.SHUTDOWN) == ShutdownAction.DRAIN) {
      log.warning(count + " could not be destroyed (shutdown: drain): " + names + next);
    } else {
      log.info(
          count
              + (left == 1 ? " stays" : " stay")
              + " until expiry, running or suspended (shutdown: leave): "
              + names
              + next
              + "\nto destroy sandboxes whenever the server stops: set shutdown: drain");
    }
  }
}
