package dev.isola.compat.e2b.volume;

import dev.isola.compat.e2b.create.Beginnings;
import dev.isola.compat.e2b.create.Wanted;
import dev.isola.compat.e2b.model.Body;
import dev.isola.compat.e2b.model.Marks;
import dev.isola.compat.e2b.template.Template;
import dev.isola.compat.e2b.template.Templates;
import dev.isola.engine.Engine;
import dev.isola.engine.api.Page;
import dev.isola.engine.api.SandboxFilter;
import dev.isola.engine.api.SandboxView;
import dev.isola.engine.lifecycle.Order;
import dev.isola.engine.lifecycle.SpecText;
import dev.isola.server.context.Serving;
import dev.isola.spi.Destroy;
import dev.isola.spi.SandboxId;
import dev.isola.spi.SandboxState;
import dev.isola.spi.capability.Sandbox;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.Gone;
import dev.isola.spi.error.NotFound;
import dev.isola.spi.file.FileInfo;
import dev.isola.spi.file.FileSystem;
import dev.isola.spi.spec.Volume;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Reaches into volumes through sandboxes of our own, made as a client's would be, so that it is the
 * same volume: only the provider knows where it lies. One is kept for as long as somebody asks.
 */
final class Keepers {
  /** Where it has the volume. */
  static final String MOUNT = "/volume";

  private static final Duration IDLE = Duration.ofSeconds(30);

  /** So long does E2B's client wait for a file. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private static final Duration OLD = Duration.ofMinutes(30);
  private static final int AT_ONCE = 1000;

  private final Serving serving;
  private final Templates templates;
  private final Wanted wanted;
  private final Beginnings beginnings;
  private final Map<String, Kept> kept = new ConcurrentHashMap<>();
  private final List<ReentrantLock> locks = Stream.generate(ReentrantLock::new).limit(32).toList();

  /** A sandbox, whose files are whose, and when it was made. */
  private record Kept(SandboxId id, String user, long nanos) {
    boolean isOld() {
      return System.nanoTime() - nanos > OLD.toNanos();
    }
  }

  Keepers(Serving serving, Templates templates, Wanted wanted, Beginnings beginnings) {
    this.serving = serving;
    this.templates = templates;
    this.wanted = wanted;
    this.beginnings = beginnings;
  }

  /** Returns the files of a sandbox that has the volume at {@link #MOUNT}. */
  FileSystem files(VolumeBook.Named volume) {
    ReentrantLock lock = locks.get(Math.floorMod(volume.id().hashCode(), locks.size()));
    lock.lock();
    try {
      return living(volume).orElseGet(() -> make(volume));
    } finally {
      lock.unlock();
    }
  }

  private Optional<FileSystem> living(VolumeBook.Named volume) {
    Kept known = kept.get(volume.id());
    if (known == null || known.isOld()) {
      return Optional.empty(); // an old one ends by itself once what it does is done
    }
    try {
      Sandbox sandbox = serving.engine().sandbox(known.id());
      return Optional.of(sandbox)
          .filter(one -> one.state() == SandboxState.RUNNING)
          .map(one -> one.files().madeFor(known.user()));
    } catch (NotFound | Gone e) {
      return Optional.empty(); // nobody had asked for a while
    }
  }

  private FileSystem make(VolumeBook.Named volume) {
    Body like =
        new Body(
            Map.of(
                "volumeMounts",
                List.of(Map.of("name", volume.name(), "path", MOUNT)),
                "allow_internet_access",
                false));
    Template template = templates.any();
    Order order = wanted.order(like, template, LONGEST.toSeconds());
    Map<String, String> labels = new LinkedHashMap<>(order.labels());
    labels.put(Marks.VOLUME, volume.id());
    Engine engine = serving.engine();
    SandboxView entry = engine.create(order.withLabels(labels).withIdleTimeout(IDLE)).entry();
    beginnings.begin(entry, template);
    String user = order.request().spec().user().orElse("root");
    kept.put(volume.id(), new Kept(entry.id(), user, System.nanoTime()));
    return engine.sandbox(entry.id()).files().madeFor(user);
  }

  /** Removes what is in a volume that nobody has mounted. */
  void empty(VolumeBook.Named volume) {
    refuseWhileMounted(volume);
    FileSystem files = files(volume);
    for (List<String> some = some(files); !some.isEmpty(); some = some(files)) {
      some.forEach(path -> files.remove(path, true));
    }
    Kept last = kept.remove(volume.id());
    if (last != null) {
      serving.engine().destroy(last.id(), Destroy.FORCE);
    }
  }

  /** Somebody may have put more into it than we could hold. */
  private static List<String> some(FileSystem files) {
    try (Stream<FileInfo> found = files.list(MOUNT, 1)) {
      return found.limit(AT_ONCE).map(FileInfo::path).toList();
    }
  }

  private void refuseWhileMounted(VolumeBook.Named volume) {
    SandboxFilter living = SandboxFilter.ALL.notDestroyed();
    String cursor = "";
    do {
      Page page = serving.engine().list(living, cursor, Page.MAX_LIMIT);
      for (SandboxView entry : page.entries()) {
        if (!Marks.isOurOwn(entry) && mounts(entry, volume)) {
          throw Fault.of(
                  ErrorCode.CONFLICT,
                  "sandbox " + entry.id() + " has the volume " + volume.name() + " mounted",
                  "end it first")
              .exception();
        }
      }
      cursor = page.next().orElse("");
    } while (!cursor.isEmpty());
  }

  private static boolean mounts(SandboxView entry, VolumeBook.Named volume) {
    return SpecText.read(entry.spec(), entry.id()).spec().volumes().stream()
        .anyMatch(one -> one.type() == Volume.Type.VOLUME && one.source().equals(volume.name()));
  }
}
