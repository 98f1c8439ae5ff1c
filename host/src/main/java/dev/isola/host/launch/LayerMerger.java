package dev.isola.host.launch;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.isola.host.layer.LayerStore;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Merges many layers into one in the background: each file lookup visits all layers, and an overlay
 * accepts only a limited number. Running sandboxes are not affected; the next commit or fork uses
 * the merged layer.
 */
final class LayerMerger implements AutoCloseable {
  /** The number of layers at which a merge pays off. */
  static final int MERGE_DEPTH = 16;

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  private final LayerStore layers;
  private final Supplier<Path> launcher;

  /** Running merges by their topmost layer. */
  private final Map<String, MergeTask> running = new ConcurrentHashMap<>();

  private final AtomicReference<@Nullable Thread> sweeping = new AtomicReference<>();

  LayerMerger(LayerStore layers, Supplier<Path> launcher) {
    this.layers = layers;
    this.launcher = launcher;
  }

  /**
   * Does background work after a fork: merges layers if there are many, and removes unused ones.
   */
  void afterFork(List<String> stack) {
    mergeIfDeep(stack);
    Thread next = Thread.ofVirtual().name("isola-sweep").unstarted(this::sweep);
    if (sweeping.compareAndSet(null, next)) {
      next.start();
    }
  }

  private void sweep() {
    try {
      layers.sweep();
    } catch (IOException notNow) {
      // The next fork or destroy repeats it.
    } finally {
      sweeping.set(null);
    }
  }

  /** Cancels running merges. */
  @Override
  public void close() {
    running.values().forEach(MergeTask::cancel);
    Thread sweeper = sweeping.get();
    if (sweeper != null) {
      join(sweeper, TIMEOUT);
    }
  }

  private static void join(Thread thread, Duration timeout) {
    try {
      thread.join(timeout);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Starts a merge if the stack is deep. After a failed merge the next attempt waits until the
   * stack has grown by the same number of layers.
   */
  private void mergeIfDeep(List<String> stack) {
    List<String> own = LayerStore.withoutImageLayers(stack);
    if (own.size() >= MERGE_DEPTH && own.size() % MERGE_DEPTH == 0) {
      startMerge(stack);
    }
  }

  /** Merges layers and waits for the result. */
  void mergeNow(List<String> stack, Duration timeout) {
    startMerge(stack);
    for (MergeTask merge : running.values()) {
      if (stack.contains(merge.top)) {
        merge.await(timeout);
      }
    }
  }

  private void startMerge(List<String> stack) {
    if (running.keySet().stream().anyMatch(stack::contains)) {
      return; // layers above are merged next time
    }
    MergeTask merge = new MergeTask(stack);
    if (running.putIfAbsent(merge.top, merge) == null) {
      merge.thread.start();
    }
  }

  /** Cancels merges whose layers are no longer used. */
  void cancelUnused() throws IOException {
    for (MergeTask merge : running.values()) {
      if (!layers.isInUse(merge.top)) {
        merge.cancel();
      }
    }
  }

  private final class MergeTask {
    private final List<String> stack;
    private final String top;
    private final Thread thread = Thread.ofVirtual().name("isola-merge").unstarted(this::run);
    private @Nullable Process process;
    private boolean cancelled;

    private MergeTask(List<String> stack) {
      this.stack = stack;
      this.top = LayerStore.withoutImageLayers(stack).getFirst();
    }

    private void run() {
      try {
        layers.merge(stack, this::fill);
      } catch (IOException failed) {
        // The layers stay separate; a fork that exceeds the limit reports it.
      } finally {
        running.remove(top, this);
      }
    }

    private void fill(LayerStore.MergeRequest request) throws IOException {
      LaunchPlan plan = new LaunchPlan();
      if (!SandboxUserIds.rangesAvailable()) {
        plan.step("self");
      }
      request
          .image()
          .ifPresent(
              image -> {
                Disks.mount(plan, image, request.mount());
                plan.step("make", request.tree().toString(), "700", "0", "0");
                plan.step("make", request.spare().toString(), "700", "0", "0");
              });
      plan.add(request.step("merge"));
      String answer = answer(plan.encode());
      if (!answer.startsWith("done")) {
        throw new IOException(answer.isEmpty() ? "the launcher exited without an answer" : answer);
      }
    }

    /** Reads to the end, which comes when the last process that holds the pipe exits. */
    private String answer(byte[] plan) throws IOException {
      ProcessBuilder builder = new ProcessBuilder(launcher.get().toString());
      builder.environment().clear();
      builder.directory(Path.of("/").toFile());
      builder.redirectError(ProcessBuilder.Redirect.DISCARD);
      Process started = start(builder);
      try (OutputStream in = started.getOutputStream()) {
        in.write(plan);
      }
      return new String(started.getInputStream().readAllBytes(), UTF_8).strip();
    }

    private synchronized Process start(ProcessBuilder builder) throws IOException {
      if (cancelled) {
        throw new IOException("the merge was cancelled");
      }
      Process started = builder.start();
      process = started;
      return started;
    }

    /**
     * Uses the handle: {@code Process.destroy} would close the pipe before it is read to its end.
     */
    void cancel() {
      synchronized (this) {
        cancelled = true;
        if (process != null) {
          process.toHandle().destroyForcibly();
        }
      }
      await(TIMEOUT);
    }

    void await(Duration timeout) {
      join(thread, timeout);
    }
  }
}
