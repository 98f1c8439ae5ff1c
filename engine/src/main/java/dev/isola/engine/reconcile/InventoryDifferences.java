package dev.isola.engine.reconcile;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.JsonValue;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.store.LedgerParts;
import dev.isola.store.SettingEntries;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The differences that the last comparison of each shared inventory found, in the ledger: for each
 * provider and owner one value. A comparison replaces those of its provider.
 */
public final class InventoryDifferences {
  private static final String SCOPE = "inventory-differences/";

  /** More of one owner wait for the next comparison. */
  private static final int MAX_PER_OWNER = 5000;

  private InventoryDifferences() {}

  /** Returns the differences of the sandboxes of one owner, by sandbox. */
  public static Map<SandboxId, InventoryDifference> read(
      LedgerParts ledger, Iterable<String> providers, String owner) {
    Map<SandboxId, InventoryDifference> differences = new HashMap<>();
    for (String provider : providers) {
      ledger
          .settings()
          .get(SCOPE + provider, owner)
          .ifPresent(text -> parse(text).forEach(one -> differences.put(one.id(), one)));
    }
    return differences;
  }

  /** Replaces the differences of a provider; writes nothing if there are none and were none. */
  public static void replace(
      LedgerParts ledger, String provider, Map<String, List<InventoryDifference>> byOwner) {
    SettingEntries settings = ledger.settings();
    for (String owner : new TreeSet<>(settings.all(SCOPE + provider).keySet())) {
      if (!byOwner.containsKey(owner)) {
        boolean _ = settings.remove(SCOPE + provider, owner);
      }
    }
    for (String owner : new TreeSet<>(byOwner.keySet())) {
      settings.put(SCOPE + provider, owner, text(byOwner.getOrDefault(owner, List.of())));
    }
  }

  private static String text(List<InventoryDifference> differences) {
    return Json.text(
        differences.stream()
            .limit(MAX_PER_OWNER)
            .map(
                one ->
                    Json.object(
                        "id", one.id().value(),
                        "revision", one.revision(),
                        "recorded", one.recorded().name(),
                        "kind", one.kind().name(),
                        "found", one.found().name(),
                        "why", one.why()))
            .toList());
  }

  /** Reads the text; what another version of Isola has written in another form is ignored. */
  private static List<InventoryDifference> parse(String text) {
    List<InventoryDifference> differences = new ArrayList<>();
    try {
      for (JsonValue one : JsonValue.parse(text.getBytes(UTF_8)).items()) {
        differences.add(
            new InventoryDifference(
                new SandboxId(one.text("id")),
                one.number("revision"),
                SandboxState.valueOf(one.text("recorded")),
                InventoryDifference.Kind.valueOf(one.text("kind")),
                SandboxState.valueOf(one.text("found")),
                one.text("why")));
      }
    } catch (IOException | IllegalArgumentException e) {
      return List.of();
    }
    return differences;
  }
}
