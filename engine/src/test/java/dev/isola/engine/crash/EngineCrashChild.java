package dev.isola.engine.crash;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.api.template.StoreImages;
import dev.isola.engine.api.template.TemplateService;
import dev.isola.spi.InstanceId;
import dev.isola.spi.InventoryItem;
import dev.isola.spi.SandboxState;
import dev.isola.spi.error.SandboxException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * A process with an engine that is going to be killed. It opens what an earlier one left, prints
 * {@code ready}, and executes commands from its input: {@code dump} the ledger and the inventories,
 * {@code retry KEY}, {@code go} and generate traffic until it is killed, or {@code finish}.
 */
final class EngineCrashChild {
  private static final int CALLERS = 4;

  private final CrashServer server;
  private final LineWriter out;
  private final Instant start;
  private final List<ClientTraffic> callers = new ArrayList<>();

  private EngineCrashChild(
      CrashServer server, LineWriter out, SplittableRandom random, Instant start) {
    this.server = server;
    this.out = out;
    this.start = start;
    boolean bubblewrap =
        server.health.awaitFirstProbes().stream()
            .anyMatch(one -> one.name().equals("bubblewrap") && one.healthy());
    for (int i = 0; i < CALLERS; i++) {
      callers.add(
          new ClientTraffic(
              server.engine,
              out,
              random.split(),
              bubblewrap,
              bubblewrap && server.images.isPresent() && i == 0));
    }
  }

  /**
   * Arguments: instance, folder, seed, planted bug, comma-separated outage faults, yaml, [URL,
   * schema].
   */
  public static void main(String[] args) throws IOException {
    Instant start = Instant.now();
    LineWriter out = new LineWriter();
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[2]));
    CrashSite site =
        new CrashSite(
            new InstanceId(args[0]), Path.of(args[1]), Arrays.asList(args).subList(6, args.length));
    Log log =
        new Log() {
          @Override
          public void info(String sentence) {
            // Traffic creates many of them.
          }

          @Override
          public void warning(String sentence) {
            System.err.println("warning: " + sentence);
          }
        };
    try (CrashServer server =
        CrashServer.open(
            site,
            args[5],
            PlantedBug.valueOf(args[3]),
            log,
            before -> plants(args[4]).forEach(plant -> plant.inject(before, random, out)))) {
      EngineCrashChild child = new EngineCrashChild(server, out, random, start);
      out.write("ready");
      child.obey();
    }
    out.write("finished");
  }

  private static List<OutageFault> plants(String names) {
    return names.isEmpty()
        ? List.of()
        : Arrays.stream(names.split(",")).map(OutageFault::valueOf).toList();
  }

  private void obey() throws IOException {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    String line;
    int next = 0;
    while ((line = in.readLine()) != null && !line.equals("finish")) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "dump" -> dump();
        case "retry" -> callers.get(next++ % CALLERS).retry(words[1]);
        case "go" -> go();
        default -> throw new IllegalArgumentException(line);
      }
    }
  }

  private void go() {
    SandboxListFilter filter =
        SandboxListFilter.ALL.notDestroyed().label(ClientTraffic.LIFE, ClientTraffic.FOREVER);
    int next = 0;
    for (SandboxView entry : all(filter)) {
      if (callers.stream().noneMatch(caller -> caller.has(entry.id()))) {
        callers.get(next++ % CALLERS).adopt(entry);
      }
    }
    callers.forEach(caller -> Thread.ofVirtual().start(caller));
  }

  private List<SandboxView> all(SandboxListFilter filter) {
    List<SandboxView> found = new ArrayList<>();
    String cursor = "";
    do {
      SandboxPage page = server.engine.sandboxes().list(filter, cursor, SandboxPage.MAX_LIMIT);
      found.addAll(page.entries());
      cursor = page.next().orElse("");
    } while (!cursor.isEmpty());
    return found;
  }

  private void dump() {
    server
        .registry
        .providers()
        .forEach(
            (name, provider) -> {
              try {
                for (InventoryItem one : provider.inventory()) {
                  out.write("seen", one.id(), name, one.state());
                }
              } catch (SandboxException e) {
                out.write("unseen", name);
              }
            });
    List<SandboxView> written = all(SandboxListFilter.ALL);
    Map<String, Long> counts =
        written.stream()
            .collect(Collectors.groupingBy(EngineCrashChild::key, Collectors.counting()));
    for (SandboxView entry : written) {
      boolean young = entry.state() == SandboxState.CREATING && entry.createdAt().isAfter(start);
      out.write(
          "entry",
          entry.id(),
          entry.state(),
          entry.provider(),
          young ? "young" : "old",
          counts.getOrDefault(key(entry), 0L) > 1 && !ran(entry) ? "-" : key(entry));
    }
    written.stream().filter(this::isUnready).forEach(entry -> out.write("unready", entry.id()));
    server.registry.get("bubblewrap").volumes().orElseThrow().list().stream()
        .forEach(name -> out.write("volume-seen", name));
    server
        .engine
        .volumes()
        .list("")
        .forEach(volume -> out.write("volume-entry", volume.name(), volume.state()));
    dumpTemplates(written);
    out.write("dumped");
  }

  private void dumpTemplates(List<SandboxView> written) {
    server.ledger.templates().builds().stream()
        .filter(build -> !build.state().isOver())
        .forEach(build -> out.write("build-remains", build.id()));
    written.stream()
        .filter(entry -> entry.state() != SandboxState.DESTROYED)
        .filter(entry -> entry.labels().containsKey(TemplateService.BUILD_LABEL))
        .forEach(entry -> out.write("build-remains", entry.id()));
    server.ledger.templates().all().stream()
        .filter(template -> !template.image().isEmpty())
        .forEach(template -> out.write("template-image", template.image()));
    server.images.stream()
        .flatMap(images -> images.names().stream())
        .filter(name -> !name.equals(StoreImages.SMALL))
        .forEach(name -> out.write("image-seen", name));
  }

  /** Returns whether a sandbox runs whose startup has not succeeded. */
  private boolean isUnready(SandboxView entry) {
    if (entry.state() != SandboxState.RUNNING
        || !key(entry).startsWith(ClientTraffic.WITH_STARTUP)) {
      return false;
    }
    try {
      return !server.engine.sandboxes().get(entry.id()).files().exists(ClientTraffic.READY_FILE);
    } catch (SandboxException e) {
      return false; // it has ended meanwhile; other invariants cover that
    }
  }

  private static String key(SandboxView entry) {
    return entry.labels().getOrDefault(ClientTraffic.KEY, "-");
  }

  /** The key of a sandbox that never ran was released and may be bound to another sandbox. */
  private boolean ran(SandboxView entry) {
    return server.ledger.sandboxes().transitions(entry.id()).stream()
        .anyMatch(step -> step.to() == SandboxState.RUNNING);
  }
}
