package dev.isola.server.peer;

import dev.isola.engine.api.Peers;
import dev.isola.engine.api.SandboxHome;
import dev.isola.engine.api.ServerView;
import dev.isola.spi.SandboxId;
import dev.isola.spi.Secret;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Servers that a test places sandboxes on. */
public final class FakePeers implements Peers {
  public static final Secret KEY = Secret.of("a key that the servers of a test share");

  private final String self;
  private final Secret key;
  private final Map<SandboxId, Deque<SandboxHome>> homes = new ConcurrentHashMap<>();
  private final List<ServerView> servers = new CopyOnWriteArrayList<>();

  public FakePeers(String self) {
    this(self, KEY);
  }

  public FakePeers(String self, Secret key) {
    this.self = self;
    this.key = key;
  }

  /** Places a sandbox on servers, one after the other with each question; the last one stays. */
  public synchronized void place(String sandbox, SandboxHome... ones) {
    homes.put(new SandboxId(sandbox), new ArrayDeque<>(List.of(ones)));
  }

  /** Returns a server of this machine. */
  public static SandboxHome.At at(String server, int port) {
    return new SandboxHome.At(server, URI.create("http://127.0.0.1:" + port));
  }

  public void record(SandboxHome.At server, boolean alive) {
    servers.removeIf(one -> one.name().equals(server.server()));
    servers.add(new ServerView(server.server(), server.url(), "test", Instant.EPOCH, alive));
  }

  @Override
  public String self() {
    return self;
  }

  @Override
  public List<ServerView> all() {
    return List.copyOf(servers);
  }

  @Override
  public synchronized SandboxHome homeOf(SandboxId id) {
    Deque<SandboxHome> places = homes.get(id);
    if (places == null) {
      return new SandboxHome.Here();
    }
    return places.size() > 1 ? places.removeFirst() : places.getFirst();
  }

  @Override
  public Secret key() {
    return key;
  }
}
