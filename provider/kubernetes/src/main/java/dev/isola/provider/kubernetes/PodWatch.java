package dev.isola.provider.kubernetes;

import dev.isola.codec.json.JsonValue;
import dev.isola.codec.time.Deadline;
import dev.isola.provider.kubernetes.api.ObjectWatch;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import dev.isola.spi.error.SandboxException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The latest state of every pod of this provider, kept up to date by one watch for all sandboxes.
 */
final class PodWatch implements AutoCloseable, ObjectWatch.Listener {
  /** The kubelet reports a start by an event at once, and in the status of the pod later. */
  private static final String STARTED = "involvedObject.kind=Pod,reason=Started";

  private static final int MAX_STARTED = 10_000;

  /** Called with the state of a pod that has ended, or whose end was requested. */
  private final BiConsumer<SandboxId, PodSnapshot> onEnd;

  private final Cluster cluster;
  private final String selector;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Map<SandboxId, PodSnapshot> pods = new HashMap<>();
  private final Map<String, Boolean> started =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > MAX_STARTED;
        }
      };
  private @Nullable SandboxException failure;
  private boolean listed;
  private @Nullable ObjectWatch watch;
  private @Nullable ObjectWatch starts;

  PodWatch(Cluster cluster, String selector, BiConsumer<SandboxId, PodSnapshot> onEnd) {
    this.cluster = cluster;
    this.selector = selector;
    this.onEnd = onEnd;
  }

  /** Starts the watch unless it has started. */
  void start() {
    lock.lock();
    try {
      if (watch == null) {
        watch =
            new ObjectWatch(
                cluster.client(),
                cluster.pods(),
                ObjectWatch.Selection.ofLabels(selector),
                this,
                this::failed);
        starts =
            new ObjectWatch(
                cluster.client(),
                cluster.events(),
                ObjectWatch.Selection.ofNewWithFields(STARTED),
                new StartListener(this::started),
                why -> {}); // without it, the status of the pod tells that it runs, but later
        watch.start();
        starts.start();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns all pods, once they have been listed.
   *
   * @throws SandboxException if the API server refuses, or does not respond in time
   */
  List<PodSnapshot> known(Deadline deadline) {
    start();
    lock.lock();
    try {
      boolean inTime = true;
      while (inTime && !listed && failure == null) {
        inTime = changed.await(deadline.left().toMillis() + 1, TimeUnit.MILLISECONDS);
      }
      if (listed) {
        return List.copyOf(pods.values());
      }
      throw failure == null
          ? Fault.of(
                  ErrorCode.PROVIDER_UNAVAILABLE,
                  "the API server did not list the pods within "
                      + deadline.whole().toMillis()
                      + " ms",
                  "check the load of the API server")
              .exception()
          : failure;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Fault.of(ErrorCode.CANCELLED, "listing the pods was cancelled", "call it again")
          .exception(e);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until a pod is in a state.
   *
   * @return the state; empty if the deadline passes first
   */
  Optional<PodSnapshot> await(
      SandboxId id, String uid, Predicate<PodSnapshot> condition, Deadline deadline)
      throws InterruptedException {
    return await(id, now -> now.uid().equals(uid) && condition.test(now), deadline);
  }

  /**
   * Waits until a sandbox has a pod in a state.
   *
   * @return the state; empty if the deadline passes first
   */
  Optional<PodSnapshot> await(SandboxId id, Predicate<PodSnapshot> condition, Deadline deadline)
      throws InterruptedException {
    start();
    lock.lockInterruptibly();
    try {
      while (true) {
        PodSnapshot now = pods.get(id);
        if (now != null && condition.test(now)) {
          return Optional.of(now);
        }
        if (!changed.await(deadline.left().toMillis() + 1, TimeUnit.MILLISECONDS)
            && deadline.over()) {
          return Optional.empty();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the pod is removed, or until the deadline. */
  void awaitRemoval(SandboxId id, String uid, Deadline deadline) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      boolean inTime = true;
      while (inTime && isKnown(id, uid)) {
        inTime = changed.await(deadline.left().toMillis() + 1, TimeUnit.MILLISECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isKnown(SandboxId id, String uid) {
    PodSnapshot now = pods.get(id);
    return now != null && now.uid().equals(uid);
  }

  /** Returns why the watch does not work; empty while it does. */
  Optional<SandboxException> failure() {
    lock.lock();
    try {
      return Optional.ofNullable(failure);
    } finally {
      lock.unlock();
    }
  }

  private void failed(SandboxException why) {
    lock.lock();
    try {
      failure = why;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void listed(List<JsonValue> objects) {
    Map<SandboxId, PodSnapshot> now = new HashMap<>();
    for (JsonValue object : objects) {
      PodSnapshot pod = PodSnapshot.of(object);
      pod.sandbox().ifPresent(id -> now.put(id, pod));
    }
    Map<SandboxId, PodSnapshot> missing;
    lock.lock();
    try {
      failure = null;
      listed = true;
      missing = new HashMap<>(pods);
      missing.entrySet().removeIf(old -> isIn(now, old));
      pods.clear();
      pods.putAll(now);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    missing.forEach(onEnd);
    now.forEach(this::reportEnd);
  }

  /** Another pod may have replaced one while there was no watch. */
  private static boolean isIn(
      Map<SandboxId, PodSnapshot> pods, Map.Entry<SandboxId, PodSnapshot> old) {
    PodSnapshot now = pods.get(old.getKey());
    return now != null && now.uid().equals(old.getValue().uid());
  }

  /** Handles the start of a container of any pod of the namespace. */
  private void started(String uid) {
    lock.lock();
    try {
      started.put(uid, true);
      pods.replaceAll((id, pod) -> pod.uid().equals(uid) ? pod.asRunning() : pod);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void changed(JsonValue object) {
    PodSnapshot pod = PodSnapshot.of(object);
    if (pod.sandbox().isPresent()) {
      SandboxId id = pod.sandbox().get();
      lock.lock();
      try {
        pods.put(id, started.containsKey(pod.uid()) ? pod.asRunning() : pod);
        changed.signalAll();
      } finally {
        lock.unlock();
      }
      reportEnd(id, pod);
    }
  }

  @Override
  public void deleted(JsonValue object) {
    PodSnapshot pod = PodSnapshot.of(object);
    if (pod.sandbox().isPresent()) {
      SandboxId id = pod.sandbox().get();
      lock.lock();
      try {
        PodSnapshot known = pods.get(id);
        if (known == null || known.uid().equals(pod.uid())) {
          pods.remove(id);
        }
        changed.signalAll();
      } finally {
        lock.unlock();
      }
      onEnd.accept(id, pod);
    }
  }

  private void reportEnd(SandboxId id, PodSnapshot pod) {
    if (pod.end().isPresent()) {
      onEnd.accept(id, pod);
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (watch != null) {
        watch.close();
      }
      if (starts != null) {
        starts.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
