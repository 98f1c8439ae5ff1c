package dev.isola.app.remote;

import dev.isola.app.cli.CellFormat;
import dev.isola.app.cli.Table;
import dev.isola.client.Ports;
import dev.isola.client.SandboxInfo;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Formats the description of a sandbox as lines of a name and a value. */
final class SandboxDetails {
  private static final long MEGABYTE = 1024 * 1024;

  private final Table table = new Table();
  private final SandboxInfo info;
  private final Map<?, ?> spec;
  private final Instant now;

  private SandboxDetails(SandboxInfo info, Instant now) {
    this.info = info;
    this.spec = object(info.document().get("spec"));
    this.now = now;
  }

  static Table table(SandboxInfo info, List<Ports.Port> ports, Instant now) {
    SandboxDetails details = new SandboxDetails(info, now);
    details.identity();
    details.lifecycle();
    details.setup();
    details.limits();
    ports.forEach(details::port);
    return details.table;
  }

  private void identity() {
    table.row("id", info.id());
    table.row("name", CellFormat.text(info.name().orElse("-")));
    table.row("state", CellFormat.text(info.state()));
    info.cause().ifPresent(cause -> table.row("cause", CellFormat.text(cause)));
    table.row("provider", CellFormat.text(info.provider()));
    table.row("isolation", CellFormat.text(info.isolation()));
    String tags = VisibleTags.text(info.tags());
    table.row("tags", tags.isEmpty() ? "-" : tags);
  }

  private void lifecycle() {
    table.row("created", time(info.createdAt(), " ago", ""));
    table.row("last used", time(info.lastActivity(), " ago", ""));
    table.row("expires", info.expiresAt().map(at -> time(at, "", "in ")).orElse("never"));
    action("when expired", "whenExpired");
    if (info.document().get("idleTimeoutSeconds") instanceof Number seconds) {
      table.row("idle timeout", CellFormat.duration(Duration.ofSeconds(seconds.longValue())));
      action("when idle", "whenIdle");
    }
    if (Boolean.TRUE.equals(spec.get("autoResume"))) {
      table.row("auto-resume", "yes");
    }
  }

  private String time(Instant at, String after, String before) {
    Duration distance = at.isBefore(now) ? Duration.between(at, now) : Duration.between(now, at);
    return at + " (" + before + CellFormat.duration(distance) + after + ")";
  }

  private void action(String label, String field) {
    text(spec.get(field)).ifPresent(value -> table.row(label, value));
  }

  private void setup() {
    text(spec.get("image")).ifPresent(image -> table.row("image", image));
    text(spec.get("user")).ifPresent(user -> table.row("user", user));
    text(spec.get("workspacePath")).ifPresent(path -> table.row("host folder", path));
    table.row(
        "workdir", text(spec.get("cwd")).or(() -> text(spec.get("workspaceMount"))).orElse("-"));
    object(spec.get("env"))
        .forEach((name, value) -> table.row("env", CellFormat.text(name + "=" + value)));
    list(spec.get("secretEnv"))
        .forEach(name -> table.row("secret env", CellFormat.text(String.valueOf(name))));
    list(spec.get("volumes")).forEach(one -> mount(object(one)));
    Map<?, ?> network = object(spec.get("network"));
    table.row("network", text(network.get("mode")).orElse("default of the provider"));
    words("allowed domains", network.get("allowDomains"));
    words("blocked domains", network.get("blockDomains"));
    words("exposed ports", network.get("exposePorts"));
  }

  private void mount(Map<?, ?> volume) {
    String source = text(volume.get("source")).filter(text -> !text.isEmpty()).orElse("tmpfs");
    table.row(
        "mount",
        source
            + " at "
            + text(volume.get("destination")).orElse("-")
            + (Boolean.TRUE.equals(volume.get("readonly")) ? ", read-only" : ""));
  }

  private void limits() {
    Map<?, ?> limits = object(spec.get("resources"));
    text(limits.get("cpu")).ifPresent(cpu -> table.row("cpu", cpu + " cores"));
    size("memory", limits.get("memory"));
    size("disk", limits.get("disk"));
    text(limits.get("processes")).ifPresent(count -> table.row("processes", count));
    text(limits.get("threads")).ifPresent(count -> table.row("threads", count));
    words("not enforced", info.document().get("unenforcedLimits"));
  }

  private void size(String label, @Nullable Object megabytes) {
    if (megabytes instanceof Number number && number.longValue() > 0) {
      table.row(label, CellFormat.size(number.longValue() * MEGABYTE));
    }
  }

  private void port(Ports.Port port) {
    table.row(
        "port",
        port.port()
            + (port.isPublic() ? ", public" : ", private")
            + port.url().map(url -> ", " + CellFormat.text(url)).orElse(""));
  }

  private void words(String label, @Nullable Object values) {
    List<String> words = new ArrayList<>();
    list(values).forEach(value -> words.add(CellFormat.text(String.valueOf(value))));
    if (!words.isEmpty()) {
      table.row(label, String.join(" ", words));
    }
  }

  private static Optional<String> text(@Nullable Object value) {
    return Optional.ofNullable(value).map(String::valueOf).map(CellFormat::text);
  }

  private static Map<?, ?> object(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  private static List<?> list(@Nullable Object value) {
    return value instanceof List<?> list ? list : List.of();
  }
}
