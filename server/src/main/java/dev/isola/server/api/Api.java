package dev.isola.server.api;

import dev.isola.server.access.FileReadGuard;
import dev.isola.server.access.HostAccessGuard;
import dev.isola.server.auth.ApiKeys;
import dev.isola.server.auth.PortCredentials;
import dev.isola.server.context.ImageService;
import dev.isola.server.context.ServerContext;
import dev.isola.server.limit.ByteBudget;
import dev.isola.server.route.ApiExtension;
import dev.isola.server.route.Route;
import dev.isola.server.route.Routes;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The whole table. A route that is not in here does not exist. */
public final class Api {
  private Api() {}

  /**
   * @param standardProvider for orders that name none
   * @param version of this Isola
   */
  public static Routes routes(
      ServerContext serving, ApiKeys keys, String standardProvider, String version) {
    return routes(serving, keys, standardProvider, version, List::of, ImageService.NONE, List.of());
  }

  /**
   * @param standardProvider for orders that name none
   * @param version of this Isola
   * @param machine looks at what this machine has and lacks, besides providers
   * @param images what sandboxes start from
   * @param extensions other APIs, whose routes are under the same guards as our own
   */
  public static Routes routes(
      ServerContext serving,
      ApiKeys keys,
      String standardProvider,
      String version,
      Supplier<List<SetupStep>> machine,
      ImageService images,
      List<ApiExtension> extensions) {
    PortCredentials others =
        extensions.stream()
            .map(ApiExtension::portCredentials)
            .reduce(PortCredentials.NONE, PortCredentials::and);
    ByteBudget budget = ByteBudget.ofThisProcess();
    AtomicReference<List<Route>> table = new AtomicReference<>(List.of());
    List<Route> all =
        Stream.of(
                new SystemRoutes(serving, table::get, version).routes(),
                new DocsRoutes().routes(),
                new SetupRoutes(serving, machine).routes(),
                new SandboxRoutes(serving, standardProvider).routes(),
                new ExecRoutes(serving, budget).routes(),
                new ExecutionRoutes(serving).routes(),
                new FileRoutes(serving).routes(),
                new BatchRoutes(serving, budget).routes(),
                new TreeRoutes(serving).routes(),
                new WatchRoutes(serving).routes(),
                new TokenRoutes(serving, keys).routes(),
                new PortRoutes(serving, keys, others).routes(),
                new SnapshotRoutes(serving).routes(),
                new VolumeRoutes(serving, standardProvider).routes(),
                new VolumeFileRoutes(serving).routes(),
                new TemplateRoutes(serving).routes(),
                new TemplateBuildRoutes(serving).routes(),
                new EventRoutes(serving).routes(),
                new ProviderRoutes(serving).routes(),
                new ImageRoutes(images).routes(),
                new KeyRoutes(keys).routes())
            .flatMap(List::stream)
            .toList();
    table.set(all);
    Stream<Route> more = extensions.stream().flatMap(one -> one.routes().stream());
    HostAccessGuard guard = new HostAccessGuard(serving);
    return new Routes(
        Stream.concat(all.stream(), more).map(guard::wrap).map(FileReadGuard::wrap).toList(),
        extensions);
  }
}
