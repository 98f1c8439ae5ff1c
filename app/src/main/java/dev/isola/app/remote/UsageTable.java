package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.Table;
import dev.isola.client.Isola;
import dev.isola.client.SandboxFilter;
import dev.isola.client.SandboxInfo;
import dev.isola.client.Usage;
import dev.isola.client.error.Gone;
import dev.isola.client.error.IsolaException;
import dev.isola.client.error.NotFound;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Measures the resource usage of all running sandboxes and formats it as a table. */
final class UsageTable {
  private static final int SHORT_ID = 12;

  /** Number of sandboxes queried concurrently. */
  private static final int CONCURRENCY = 16;

  /**
   * Usage of one sandbox.
   *
   * @param usage empty if it cannot be measured
   */
  record Row(SandboxInfo sandbox, Optional<Usage> usage, double cpuPercent) {
    Map<String, Object> json() {
      Map<String, Object> json = new LinkedHashMap<>();
      json.put("sandbox", sandbox.id());
      json.put("provider", sandbox.provider());
      json.put("cpuPercent", cpuPercent);
      json.put("usage", usage.map(Usage::document));
      return json;
    }
  }

  private Map<String, Usage> before = new HashMap<>();

  /** Measures all running sandboxes, sorted by CPU usage in descending order. */
  List<Row> measure(Isola isola) {
    List<SandboxInfo> running = isola.list(SandboxFilter.ALL.state("running"));
    List<Row> rows = new ArrayList<>();
    Map<String, Usage> now = new HashMap<>();
    try (ExecutorService threads =
        Executors.newFixedThreadPool(CONCURRENCY, Thread.ofVirtual().factory())) {
      List<Future<Optional<Row>>> results =
          running.stream().map(entry -> threads.submit(() -> row(isola, entry))).toList();
      for (Future<Optional<Row>> entry : results) {
        Optional<Row> row = entry.get();
        row.ifPresent(rows::add);
        row.flatMap(Row::usage).ifPresent(usage -> now.put(row.get().sandbox().id(), usage));
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IsolaException remote) {
        throw remote;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    before = now;
    rows.sort((a, b) -> Double.compare(b.cpuPercent(), a.cpuPercent()));
    return rows;
  }

  private Optional<Row> row(Isola isola, SandboxInfo sandbox) {
    try {
      Usage usage = isola.sandbox(sandbox.id()).usage();
      return Optional.of(new Row(sandbox, Optional.of(usage), percent(sandbox.id(), usage)));
    } catch (NotFound | Gone e) {
      return Optional.empty(); // destroyed in the meantime
    } catch (IsolaException e) {
      if (e.code().equals(dev.isola.client.error.Problem.SERVER_UNREACHABLE)) {
        throw e;
      }
      return Optional.of(new Row(sandbox, Optional.empty(), 0));
    }
  }

  /** Returns the CPU usage since the previous measurement, or since the start of the sandbox. */
  private double percent(String id, Usage usage) {
    Usage last = before.get(id);
    Duration cpu = last == null ? usage.cpu() : usage.cpu().minus(last.cpu());
    Duration time = last == null ? usage.uptime() : usage.uptime().minus(last.uptime());
    return time.isPositive()
        ? Math.max(0, Math.round(1000.0 * cpu.toMillis() / time.toMillis()) / 10.0)
        : 0;
  }

  static String text(List<Row> rows, int columns) {
    Table table =
        new Table().row("ID", "PROVIDER", "CPU%", "MEMORY", "PEAK", "DISK", "PROCESSES", "UP");
    for (Row row : rows) {
      Optional<Usage> usage = row.usage();
      table.row(
          row.sandbox().id(),
          CellFormat.text(row.sandbox().provider()),
          usage.isEmpty() ? "-" : String.format(Locale.ROOT, "%.1f", row.cpuPercent()),
          usage.map(entry -> CellFormat.size(entry.memoryBytes())).orElse("-"),
          usage.map(entry -> CellFormat.size(entry.memoryPeakBytes())).orElse("-"),
          usage.flatMap(Usage::diskBytes).map(CellFormat::size).orElse("-"),
          usage.map(entry -> Long.toString(entry.processes())).orElse("-"),
          usage.map(entry -> CellFormat.duration(entry.uptime())).orElse("-"));
    }
    return table.withShortIds(SHORT_ID).fitted(columns);
  }
}
