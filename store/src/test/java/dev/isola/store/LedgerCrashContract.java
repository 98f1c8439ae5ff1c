package dev.isola.store;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.isola.spi.SandboxState;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Every write that a process acknowledged survives {@code kill -9}. */
abstract class LedgerCrashContract extends LedgerContract {
  private static final int ROUNDS = Boolean.getBoolean("isola.long") ? 4 : 2;

  LedgerCrashContract(TestDatabase database) {
    super(database);
  }

  @Test
  void everyAcknowledgedWriteSurvives() throws IOException, InterruptedException {
    for (int round = 0; round < ROUNDS; round++) {
      List<String> acknowledged = killAfter("r" + round, "honest", 150 + 170 * round);
      assertThat(missing(acknowledged)).isEmpty();
      assertWhole("r" + round);
    }
  }

  /** The control: a writer that acknowledges too early is detected. */
  @Test
  void earlyAcknowledgementIsDetected() throws IOException, InterruptedException {
    List<String> lost = new ArrayList<>();
    for (int round = 0; round < 10 && lost.isEmpty(); round++) {
      lost.addAll(missing(killAfter("c" + round, "early", 100)));
    }
    assertThat(lost).isNotEmpty();
  }

  /** Returns what a child acknowledged before it died, after reopening the ledger. */
  private List<String> killAfter(String prefix, String manner, int lines)
      throws IOException, InterruptedException {
    ledger.close();
    Process child = start(prefix, manner);
    List<String> acknowledged = new ArrayList<>();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(child.getInputStream(), US_ASCII))) {
      String line;
      while ((line = out.readLine()) != null) {
        acknowledged.add(line);
        if (acknowledged.size() == lines) {
          // Kills through the handle: the Process object would close the pipe before it is read
          // to its end.
          child.toHandle().destroyForcibly();
        }
      }
    } finally {
      child.destroyForcibly().waitFor();
    }
    assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(lines);
    ledger = Ledgers.open(config);
    return acknowledged;
  }

  private Process start(String prefix, String manner) throws IOException {
    List<String> command =
        switch (config.location()) {
          case LedgerConfig.Folder folder ->
              LedgerCrashChild.command(prefix, manner, folder.folder().toString());
          case LedgerConfig.Server server ->
              LedgerCrashChild.command(prefix, manner, server.url(), server.schema());
        };
    return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
  }

  private List<String> missing(List<String> acknowledged) {
    Map<String, Integer> events = new HashMap<>();
    List<LedgerEvent> some = ledger.events().after(0, 1000);
    while (!some.isEmpty()) {
      some.forEach(e -> events.merge(e.sandbox().orElseThrow().value(), 1, Integer::sum));
      some = ledger.events().after(some.getLast().number(), 1000);
    }
    List<String> missing = new ArrayList<>();
    for (String line : acknowledged) {
      String[] parts = line.split(" ", -1);
      Optional<SandboxEntry> entry = ledger.sandboxes().find(id(parts[0]));
      boolean there = entry.filter(e -> e.state() == SandboxState.RUNNING).isPresent();
      boolean recorded = parts[1].equals("0") || events.getOrDefault(parts[0], 0) == 1;
      if (!there || !recorded) {
        missing.add(line);
      }
    }
    return missing;
  }

  /** An unacknowledged write exists completely or not at all. */
  private void assertWhole(String prefix) {
    String cursor = "";
    do {
      EntryPage page =
          ledger.sandboxes().list(EntryFilter.ALL.label("round", prefix), cursor, 1000);
      for (SandboxEntry entry : page.entries()) {
        assertThat(ledger.sandboxes().transitions(entry.id())).hasSize((int) entry.revision());
      }
      cursor = page.next().orElse("");
    } while (!cursor.isEmpty());
    assertThat(ledger.events().after(0, 1000))
        .first()
        .extracting(LedgerEvent::number)
        .isEqualTo(1L);
  }
}
