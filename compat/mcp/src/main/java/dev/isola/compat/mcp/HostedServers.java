package dev.isola.compat.mcp;

import dev.isola.document.request.CreateRequest;
import dev.isola.document.request.McpServer;
import dev.isola.engine.api.SandboxView;
import dev.isola.server.context.SandboxResolver;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.SandboxId;
import dev.isola.spi.error.ErrorCode;
import dev.isola.spi.error.Fault;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The hosted servers that clients use, or have used lately. What is forgotten is found again in the
 * sandbox.
 */
final class HostedServers {
  private static final Duration SWEEP_INTERVAL = Duration.ofSeconds(5);

  private final ServerContext context;
  private final SandboxResolver resolver;
  private final HostingLimits limits;
  private final String version;
  private final ByteBudget budget = new ByteBudget(HostingLimits.MAX_HELD);
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<SandboxId, HostedServer> servers = new LinkedHashMap<>(16, 0.75f, true);
  private boolean sweeping;

  HostedServers(ServerContext context, HostingLimits limits, String version) {
    this.context = context;
    this.limits = limits;
    this.version = version;
    resolver = new SandboxResolver(context);
  }

  HostingLimits limits() {
    return limits;
  }

  /**
   * Returns the server of a sandbox.
   *
   * @throws dev.isola.spi.error.NotFound if there is no such sandbox
   * @throws dev.isola.spi.error.Gone if the sandbox was destroyed
   * @throws dev.isola.spi.error.Conflict if the sandbox hosts none
   */
  HostedServer require(SandboxId id) {
    SandboxView view = context.sandboxes().view(id);
    lock.lock();
    try {
      HostedServer known = servers.get(id);
      if (known != null) {
        known.touch();
        return known;
      }
      CreateRequest request = view.request();
      McpServer spec =
          request
              .mcpServer()
              .orElseThrow(
                  () ->
                      Fault.of(
                              ErrorCode.ILLEGAL_STATE,
                              "sandbox " + id + " hosts no MCP server",
                              "create it with containerType mcp_server and mcp.command")
                          .sandbox(id)
                          .exception());
      HostedServer made =
          new HostedServer(
              () -> resolver.resolve(id), view.provider(), spec, limits, version, budget);
      servers.put(id, made);
      if (!sweeping) {
        sweeping = true;
        Thread.ofVirtual().name("isola-mcp-sweep").start(this::sweep);
      }
      return made;
    } finally {
      lock.unlock();
    }
  }

  /** Detaches from servers without clients, and forgets the oldest of many. */
  private void sweep() {
    try {
      boolean more = true;
      while (more) {
        Thread.sleep(SWEEP_INTERVAL);
        more = sweepOnce(HostingLimits.IDLE);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the process ends
    }
  }

  /** Returns whether there are servers to look at again. */
  boolean sweepOnce(Duration unused) {
    lock.lock();
    try {
      Iterator<HostedServer> oldest = servers.values().iterator();
      while (oldest.hasNext()) {
        HostedServer server = oldest.next();
        boolean attached = server.detachIfIdle(unused);
        if (!attached && servers.size() > HostingLimits.MAX_REMEMBERED) {
          oldest.remove();
        }
      }
      sweeping = !servers.isEmpty();
      return sweeping;
    } finally {
      lock.unlock();
    }
  }
}
