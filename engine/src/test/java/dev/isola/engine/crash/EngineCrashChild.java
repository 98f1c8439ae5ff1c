package dev.isola.engine.crash;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.engine.api.Log;
import dev.isola.engine.api.SandboxListFilter;
import dev.isola.engine.api.SandboxPage;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.template.StoreImages;
import dev.isola.engine.template.TemplateService;
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
 * A process with an engine that is killed. It opens what an earlier one left, says {@code ready},
 * and does what it is told by lines on its input: {@code dump} what is written down and what there
 * is, {@code retry KEY}, {@code go} and make traffic until death, or {@code finish}.
 */
final class EngineCrashChild {
  private static final int CALLERS = 4;

  private final CrashServer server;
  private final LineWriter tell;
  private final Instant start;
  private final List<ClientTraffic> callers = new ArrayList<>();

  private EngineCrashChild(
      CrashServer server, LineWriter tell, SplittableRandom random, Instant start) {
    this.server = server;
    this.tell = tell;
    this.start = start;
    boolean bubblewrap =
        server.health.awaitFirstProbes().stream()
            .anyMatch(one -> one.name().equals("bubblewrap") && one.healthy());
    for (int i = 0; i < CALLERS; i++) {
      callers.add(
          new ClientTraffic(
              server.engine,
              tell,
              random.split(),
              bubblewrap,
              bubblewrap && server.images.isPresent() && i == 0));
    }
  }

  /** Arguments: instance, folder, seed, planted bug, plants with commas, yaml, [URL, schema]. */
  public static void main(String[] args) throws IOException {
    Instant start = Instant.now();
    LineWriter tell = new LineWriter();
    SplittableRandom random = new SplittableRandom(Long.parseLong(args[2]));
    CrashSite site =
        new CrashSite(
            new InstanceId(args[0]), Path.of(args[1]), Arrays.asList(args).subList(6, args.length));
    Log log =
        new Log() {
          @Override
          public void info(String sentence) {
            // Traffic makes many of them.
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
            before -> plants(args[4]).forEach(plant -> plant.inject(before, random, tell)))) {
      EngineCrashChild child = new EngineCrashChild(server, tell, random, start);
      tell.write("ready");
      child.obey();
    }
    tell.write("finished");
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
      SandboxPage page = server.engine.list(filter, cursor, SandboxPage.MAX_LIMIT);
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
                  tell.write("seen", one.id(), name, one.state());
                }
              } catch (SandboxException e) {
                tell.write("unseen", name);
              }
            });
    List<SandboxView> written = all(SandboxListFilter.ALL);
    Map<String, Long> counts =
        written.stream()
            .collect(Collectors.groupingBy(EngineCrashChild::key, Collectors.counting()));
    for (SandboxView entry : written) {
      boolean young = entry.state() == SandboxState.CREATING && entry.createdAt().isAfter(start);
      tell.write(
          "entry",
          entry.id(),
          entry.state(),
          entry.provider(),
          young ? "young" : "old",
          counts.getOrDefault(key(entry), 0L) > 1 && !ran(entry) ? "-" : key(entry));
    }
    written.stream().filter(this::isUnready).forEach(entry -> tell.write("unready", entry.id()));
    server.registry.get("bubblewrap").volumes().orElseThrow().list().stream()
        .forEach(name -> tell.write("volume-seen", name));
    server
        .engine
        .volumes()
        .list("")
        .forEach(volume -> tell.write("volume-entry", volume.name(), volume.state()));
    dumpTemplates(written);
    tell.write("dumped");
  }

  private void dumpTemplates(List<SandboxView> written) {
    server.ledger.templates().builds().stream()
        .filter(build -> !build.state().isOver())
        .forEach(build -> tell.write("build-remains", build.id()));
    written.stream()
        .filter(entry -> entry.state() != SandboxState.DESTROYED)
        .filter(entry -> entry.labels().containsKey(TemplateService.BUILD_LABEL))
        .forEach(entry -> tell.write("build-remains", entry.id()));
    server.ledger.templates().all().stream()
        .filter(template -> !template.image().isEmpty())
        .forEach(template -> tell.write("template-image", template.image()));
    server.images.stream()
        .flatMap(images -> images.names().stream())
        .filter(name -> !name.equals(StoreImages.SMALL))
        .forEach(name -> tell.write("image-seen", name));
  }

  /** Tells whether a sandbox runs whose startup has not succeeded. */
  private boolean isUnready(SandboxView entry) {
    if (entry.state() != SandboxState.RUNNING
        || !key(entry).startsWith(ClientTraffic.WITH_STARTUP)) {
      return false;
    }
    try {
      return !server.engine.sandbox(entry.id()).files().exists(ClientTraffic.READY_FILE);
    } catch (SandboxException e) {
      return false; // it ended since; the other invariants look at that
    }
  }

  private static String key(SandboxView entry) {
    return entry.labels().getOrDefault(ClientTraffic.KEY, "-");
  }

  /** One that never ran has given its key back; then another may have it. */
  private boolean ran(SandboxView entry) {
    return server.ledger.sandboxes().transitions(entry.id()).stream()
        .anyMatch(step -> step.to() == SandboxState.RUNNING);
  }
}
