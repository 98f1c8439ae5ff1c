package dev.isola.compat.mcp;

import dev.isola.codec.json.Json;
import dev.isola.codec.json.MalformedJson;
import dev.isola.server.limit.ByteBudget;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Assigns the messages of a hosted server to its clients. A response goes to the request that it
 * answers, progress to the request that has the token, other messages to the client that caused
 * them: the only one with a request in progress. What cannot be assigned is refused or dropped,
 * because it could be another client's.
 */
final class MessageRouter {
  /** Parsing a long message needs many times its memory, so few are parsed at the same time. */
  private static final Semaphore LONG_MESSAGES = new Semaphore(2);

  private static final int LONG = 64 << 10;
  private static final int MAX_SERVER_REQUESTS = 64;
  private static final Pattern RESPONSE_ID = Pattern.compile("\"id\"\\s*:\\s*([0-9]{1,16})\\b");

  /** Ids of earlier connections do not occur again, and fit into a double. */
  private static final long MAX_FIRST_ID = 1L << 50;

  /** A request of the server that a client has to answer. */
  private record ServerRequest(Object id, HostedCall call) {}

  private final ByteBudget budget;
  private final AtomicLong nextId =
      new AtomicLong(new SecureRandom().nextLong(MAX_FIRST_ID - 1) + 1);
  private final Map<Long, HostedCall> calls = new ConcurrentHashMap<>();
  private final Map<String, ClientQueue> streams = new ConcurrentHashMap<>();
  private final Map<String, ServerRequest> serverRequests = new ConcurrentHashMap<>();
  private final Subscriptions subscriptions = new Subscriptions();
  private final AtomicLong dropped = new AtomicLong();

  MessageRouter(ByteBudget budget) {
    this.budget = budget;
  }

  /**
   * Registers a request of a client.
   *
   * @throws RpcError if the server has too many
   */
  HostedCall begin(
      HostedClient client,
      Object id,
      Optional<Object> progressToken,
      UnaryOperator<Map<String, Object>> result)
      throws RpcError {
    HostedCall call =
        new HostedCall(
            nextId.getAndIncrement(), id, client, progressToken, result, new ClientQueue(budget));
    calls.put(call.id(), call);
    if (calls.size() > HostingLimits.MAX_REQUESTS) {
      calls.remove(call.id());
      throw new RpcError(
          RpcError.HOSTED_SERVER,
          "the hosted server has " + HostingLimits.MAX_REQUESTS + " requests in progress; retry");
    }
    return call;
  }

  /** Forgets a request. A late answer to it is dropped. */
  void end(HostedCall call, Predicate<Map<String, ?>> server) {
    calls.remove(call.id());
    call.queue().close();
    serverRequests.forEach(
        (id, request) -> {
          if (request.call().id() == call.id() && serverRequests.remove(id, request)) {
            boolean _ =
                server.test(
                    error(request.id(), RpcError.INTERNAL, "the client no longer waits for this"));
          }
        });
  }

  /** Returns the request of a session that has this id of the client's. */
  Optional<HostedCall> find(String session, Object clientId) {
    return calls.values().stream()
        .filter(call -> call.client().session().equals(session))
        .filter(call -> call.clientId().equals(clientId))
        .findFirst();
  }

  Collection<HostedCall> calls() {
    return calls.values();
  }

  Map<String, ClientQueue> streams() {
    return streams;
  }

  Subscriptions subscriptions() {
    return subscriptions;
  }

  /** Returns whether no client uses the server. */
  boolean isIdle() {
    return calls.isEmpty() && streams.isEmpty();
  }

  long dropped() {
    return dropped.get();
  }

  /**
   * Opens the stream of a session; an earlier one ends.
   *
   * @throws RpcError if there are too many
   */
  ClientQueue openStream(String session) throws RpcError {
    ClientQueue queue = new ClientQueue(budget);
    ClientQueue before = streams.put(session, queue);
    if (before != null) {
      before.end();
    } else if (streams.size() > HostingLimits.MAX_STREAMS) {
      streams.remove(session, queue);
      throw new RpcError(
          RpcError.HOSTED_SERVER,
          "the hosted server has " + HostingLimits.MAX_STREAMS + " open streams; close one");
    }
    return queue;
  }

  void closeStream(String session, ClientQueue queue) {
    streams.remove(session, queue);
    queue.close();
  }

  /** Ends what belongs to a session. */
  void endSession(String session) {
    ClientQueue stream = streams.remove(session);
    if (stream != null) {
      stream.end();
    }
    subscriptions.end(session);
    for (HostedCall call : calls.values()) {
      if (call.client().session().equals(session)) {
        call.fail(RpcError.CANCELLED, "the session was ended");
      }
    }
  }

  /** Answers all requests with an error and ends all streams. */
  void failAll(String reason) {
    serverRequests.clear();
    subscriptions.clear();
    calls.values().forEach(call -> call.fail(RpcError.HOSTED_SERVER, reason));
    streams.values().forEach(ClientQueue::end);
  }

  /**
   * Passes the answer of a client to the server. Does nothing if the server did not ask this
   * client.
   */
  void respond(String session, RpcMessage message, Predicate<Map<String, ?>> server) {
    String id = message.id().filter(String.class::isInstance).map(String.class::cast).orElse("");
    ServerRequest request = serverRequests.get(id);
    if (request == null
        || !request.call().client().session().equals(session)
        || !serverRequests.remove(id, request)) {
      return;
    }
    Map<String, Object> response = new LinkedHashMap<>();
    response.put("jsonrpc", "2.0");
    response.put("id", request.id());
    String member = message.body().containsKey("error") ? "error" : "result";
    response.put(member, Optional.ofNullable(message.body().get(member)));
    boolean _ = server.test(response); // otherwise the call that caused it times out
  }

  /** Receives a line of the server. */
  void receive(byte[] line, Predicate<Map<String, ?>> server) {
    Map<String, Object> message = parse(line);
    if (message == null || !"2.0".equals(message.get("jsonrpc"))) {
      dropped.incrementAndGet();
      return;
    }
    Object id = message.get("id");
    boolean handled =
        message.get("method") instanceof String method
            ? ((id instanceof String || id instanceof Integer || id instanceof Long)
                ? request(id, method, message, server)
                : notification(method, message))
            : response(id, message);
    if (!handled) {
      dropped.incrementAndGet();
    }
  }

  private static @Nullable Map<String, Object> parse(byte[] line) {
    boolean isLong = line.length > LONG;
    if (isLong) {
      LONG_MESSAGES.acquireUninterruptibly();
    }
    try {
      return Json.parseObject(line);
    } catch (MalformedJson e) {
      return null;
    } finally {
      if (isLong) {
        LONG_MESSAGES.release();
      }
    }
  }

  /** Fails the request that a message which was too long answers, if its beginning names it. */
  void tooLong(String beginning) {
    dropped.incrementAndGet();
    Matcher id = RESPONSE_ID.matcher(beginning);
    HostedCall call = id.find() ? calls.get(Long.valueOf(id.group(1))) : null;
    if (call != null) {
      call.fail(
          RpcError.HOSTED_SERVER,
          "the answer of the hosted server is longer than " + HostingLimits.MAX_MESSAGE + " bytes");
    }
  }

  private boolean response(@Nullable Object id, Map<String, Object> message) {
    HostedCall call = id instanceof Number number ? calls.get(number.longValue()) : null;
    if (call == null) {
      return false;
    }
    call.answer(message);
    return true;
  }

  private boolean request(
      Object id, String method, Map<String, Object> message, Predicate<Map<String, ?>> server) {
    if (method.equals("ping")) {
      return server.test(Json.object("jsonrpc", "2.0", "id", id, "result", Map.of()));
    }
    Optional<HostedCall> caller = soleCaller();
    if (caller.isEmpty()) {
      return server.test(
          error(
              id,
              RpcError.INTERNAL,
              calls.isEmpty()
                  ? "no client waits for this server, so none can be asked"
                  : "several clients wait for this server, so it is unknown which to ask"));
    }
    HostedCall call = caller.get();
    if (!call.client().answers(method)) {
      return server.test(error(id, RpcError.METHOD_NOT_FOUND, "the client does not support this"));
    }
    String own = "isola-" + nextId.getAndIncrement();
    ServerRequest request = new ServerRequest(id, call);
    if (serverRequests.size() < MAX_SERVER_REQUESTS) {
      serverRequests.put(own, request);
      Map<String, Object> asked = new LinkedHashMap<>(message);
      asked.put("id", own);
      if (deliver(call, Json.bytes(asked))) {
        return true;
      }
      serverRequests.remove(own, request);
    }
    return server.test(error(id, RpcError.INTERNAL, "the client does not receive requests"));
  }

  private static Map<String, Object> error(Object id, int code, String message) {
    return Json.object(
        "jsonrpc", "2.0", "id", id, "error", Json.object("code", code, "message", message));
  }

  private boolean notification(String method, Map<String, Object> message) {
    Map<String, Object> params = RpcMessage.object(message.get("params"));
    return switch (method) {
      case "notifications/progress" -> {
        HostedCall call =
            params.get("progressToken") instanceof Number token
                ? calls.get(token.longValue())
                : null;
        if (call == null || call.progressToken().isEmpty()) {
          yield false;
        }
        params.put("progressToken", call.progressToken().get());
        message.put("params", params);
        yield deliver(call, Json.bytes(message));
      }
      case "notifications/message" ->
          soleCaller()
              .filter(call -> call.client().logs() && deliver(call, Json.bytes(message)))
              .isPresent();
      case "notifications/resources/updated" -> {
        byte[] bytes = Json.bytes(message);
        boolean delivered = false;
        for (String session : subscriptions.sessions(String.valueOf(params.get("uri")))) {
          delivered |= toStream(session, bytes);
        }
        yield delivered;
      }
      case "notifications/tools/list_changed",
          "notifications/prompts/list_changed",
          "notifications/resources/list_changed" -> {
        // Without the parameters, which could tell one client about another.
        byte[] bytes = Json.bytes(Json.object("jsonrpc", "2.0", "method", method));
        boolean delivered = false;
        for (String session : streams.keySet()) {
          delivered |= toStream(session, bytes);
        }
        yield delivered;
      }
      default -> false;
    };
  }

  /** Returns the oldest request in progress if all are of one client. */
  private Optional<HostedCall> soleCaller() {
    HostedCall oldest = null;
    for (HostedCall call : calls.values()) {
      if (oldest != null && !oldest.client().session().equals(call.client().session())) {
        return Optional.empty();
      }
      oldest = oldest == null || call.id() < oldest.id() ? call : oldest;
    }
    return Optional.ofNullable(oldest);
  }

  private boolean deliver(HostedCall call, byte[] message) {
    return call.client().events()
        ? call.queue().offer(message)
        : toStream(call.client().session(), message);
  }

  private boolean toStream(String session, byte[] message) {
    ClientQueue stream = streams.get(session);
    return stream != null && stream.offer(message);
  }
}
