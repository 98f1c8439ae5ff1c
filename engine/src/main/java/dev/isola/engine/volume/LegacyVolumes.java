package dev.isola.engine.volume;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.engine.api.Log;
import dev.isola.store.Ledger;
import dev.isola.store.VolumeEntry;
import java.time.Instant;
import java.time.InstantSource;

/**
 * Migrates the volumes that earlier versions stored as settings of the E2B API. Their tokens move
 * to a separate scope, which that API reads.
 */
public record LegacyVolumes(Ledger ledger, InstantSource clock, Log log) {
  static final String SCOPE = "e2b-volume";
  static final String TOKENS = "e2b-volume-token";

  /** Migrates each volume in one transaction. */
  public void migrate() {
    ledger.settings().all(SCOPE).forEach(this::migrate);
  }

  private void migrate(String id, String text) {
    String name = name(text);
    Instant now = clock.instant();
    VolumeEntry entry = new VolumeEntry(id, "", name, "", VolumeEntry.State.AVAILABLE, now, now);
    boolean migrated =
        !name.isEmpty()
            && ledger.atomically(
                parts -> {
                  if (!parts.volumes().insert(entry)) {
                    return false;
                  }
                  parts.settings().put(TOKENS, id, text);
                  return parts.settings().remove(SCOPE, id);
                });
    if (!migrated) {
      log.warning("the volume " + id + " of an earlier version could not be migrated: " + name);
    }
  }

  private static String name(String text) {
    try {
      return Json.parseObject(text).get("name") instanceof String name ? name : "";
    } catch (MalformedJson unreadable) {
      return "";
    }
  }
}
