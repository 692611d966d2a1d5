package guards

import "github.com/cofferdam-go/cofferdam/bench/command"

// A group is modules that were looked at at the same time.
type group struct {
	name    string
	modules []command.Module
}

// groups are what is measured.
var groups = []group{{"the first", modules}, {"the other", others}, {"the later", later}, {"the twelve", twelve}, {"the ten", ten}, {"ten more", tenMore}, {"the unseen", unseen}, {"the dozen", dozen}, {"the second dozen", second}, {"the third dozen", third}, {"the fourth dozen", fourth}, {"the untouched", untouched},
	{"the fifth dozen", fifth}, {"the sixth dozen", sixth}, {"the seventh dozen", seventh}, {"the eighth dozen", eighth}, {"the ninth dozen", ninth}, {"the tenth dozen", tenth}, {"two further dozens of", eleventh}, {"the larger", twelfth},
	{"the thirteenth lot of", thirteenth}, {"the fourteenth lot of", fourteenth}, {"the fifteenth lot of", fifteenth}, {"the sixteenth lot of", sixteenth}, {"the seventeenth lot of", seventeenth}, {"the eighteenth lot of", eighteenth}, {"the nineteenth lot of", nineteenth}, {"the twentieth lot of", twentieth}, {"the twenty-first lot of", twentyFirst}, {"the twenty-second lot of", twentySecond},
	{"further packages of drawn", furtherOfDrawn}, {"further packages of other", furtherOfJudged},
	{"the twenty-third lot of", twentyThird}, {"the twenty-fourth lot of", twentyFourth}, {"the twenty-fifth lot of", twentyFifth}, {"further packages of required", furtherOfRequired}, {"the twenty-sixth lot of", twentySixth}}

// modules are those for which the rules were made.
var modules = []command.Module{
	{Path: "github.com/patrickmn/go-cache", Version: "v2.1.0+incompatible"},
	{Path: "github.com/hashicorp/golang-lru/v2", Version: "v2.0.7"},
	{Path: "github.com/hashicorp/memberlist", Version: "v0.5.1"},
	{Path: "github.com/prometheus/client_golang", Version: "v1.20.5"},
	{Path: "github.com/nats-io/nats.go", Version: "v1.38.0"},
}

// others are further ones. The reasons to doubt an access were found in all of these, so that their
// figures are no estimate for modules that were never looked at.
var others = []command.Module{
	{Path: "github.com/hashicorp/yamux", Version: "v0.1.2"},
	{Path: "github.com/allegro/bigcache/v3", Version: "v3.1.0"},
	{Path: "github.com/nsqio/nsq", Version: "v1.3.0", Packages: []string{"github.com/nsqio/nsq/nsqd"}},
	{Path: "github.com/nsqio/go-nsq", Version: "v1.1.0"},
	{Path: "github.com/eclipse/paho.mqtt.golang", Version: "v1.5.0", Packages: []string{"github.com/eclipse/paho.mqtt.golang"}},
	{Path: "github.com/rabbitmq/amqp091-go", Version: "v1.10.0", Packages: []string{"github.com/rabbitmq/amqp091-go"}},
	{Path: "github.com/segmentio/kafka-go", Version: "v0.4.47", Packages: []string{"github.com/segmentio/kafka-go"}},
	{Path: "github.com/hashicorp/go-plugin", Version: "v1.6.2", Packages: []string{"github.com/hashicorp/go-plugin"}},
	{Path: "github.com/libp2p/go-yamux/v4", Version: "v4.0.1"},
	{Path: "github.com/quic-go/quic-go", Version: "v0.48.1", Packages: []string{"github.com/quic-go/quic-go"}},
	{Path: "github.com/go-zookeeper/zk", Version: "v1.0.4", Packages: []string{"github.com/go-zookeeper/zk"}},
	{Path: "github.com/tidwall/buntdb", Version: "v1.3.2"},
	{Path: "github.com/coder/websocket", Version: "v1.8.12", Packages: []string{"github.com/coder/websocket"}},
	{Path: "github.com/hashicorp/serf", Version: "v0.10.1", Packages: []string{"github.com/hashicorp/serf/serf"}},
	{Path: "github.com/fsnotify/fsnotify", Version: "v1.8.0"},
}

// later are further ones again, of which the same is true.
var later = []command.Module{
	{Path: "github.com/hashicorp/raft", Version: "v1.7.3", Packages: []string{"github.com/hashicorp/raft"}},
	{Path: "github.com/IBM/sarama", Version: "v1.45.1", Packages: []string{"github.com/IBM/sarama"}},
	{Path: "github.com/gocql/gocql", Version: "v1.7.0", Packages: []string{"github.com/gocql/gocql"}},
	{Path: "github.com/syndtr/goleveldb", Version: "v1.0.0", Packages: []string{"github.com/syndtr/goleveldb/leveldb"}},
	{Path: "github.com/pion/sctp", Version: "v1.8.37", Packages: []string{"github.com/pion/sctp"}},
	{Path: "github.com/pion/ice/v4", Version: "v4.0.9", Packages: []string{"github.com/pion/ice/v4"}},
	{Path: "github.com/go-co-op/gocron/v2", Version: "v2.16.1", Packages: []string{"github.com/go-co-op/gocron/v2"}},
	{Path: "golang.org/x/net", Version: "v0.38.0", Packages: []string{"golang.org/x/net/http2"}},
	{Path: "github.com/robfig/cron/v3", Version: "v3.0.1", Packages: []string{"github.com/robfig/cron/v3"}},
	{Path: "go.etcd.io/bbolt", Version: "v1.4.0", Packages: []string{"go.etcd.io/bbolt"}},
	{Path: "github.com/miekg/dns", Version: "v1.1.64", Packages: []string{"github.com/miekg/dns"}},
	{Path: "github.com/panjf2000/ants/v2", Version: "v2.11.2", Packages: []string{"github.com/panjf2000/ants/v2"}},
	{Path: "github.com/gorilla/websocket", Version: "v1.5.3", Packages: []string{"github.com/gorilla/websocket"}},
	{Path: "github.com/dgraph-io/ristretto/v2", Version: "v2.1.0", Packages: []string{"github.com/dgraph-io/ristretto/v2"}},
	{Path: "github.com/sourcegraph/jsonrpc2", Version: "v0.2.1", Packages: []string{"github.com/sourcegraph/jsonrpc2"}},
	{Path: "github.com/xtaci/smux", Version: "v1.5.56", Packages: []string{"github.com/xtaci/smux"}},
	{Path: "github.com/streadway/amqp", Version: "v1.1.0", Packages: []string{"github.com/streadway/amqp"}},
	{Path: "github.com/rcrowley/go-metrics", Version: "v0.0.0-20250401214520-65e299d6c5c9", Packages: []string{"github.com/rcrowley/go-metrics"}},
	{Path: "github.com/lib/pq", Version: "v1.12.3", Packages: []string{"github.com/lib/pq"}},
	{Path: "github.com/gomodule/redigo", Version: "v1.9.3", Packages: []string{"github.com/gomodule/redigo/redis"}},
	{Path: "github.com/emersion/go-imap", Version: "v1.2.1", Packages: []string{"github.com/emersion/go-imap/client"}},
	{Path: "github.com/nats-io/stan.go", Version: "v0.10.4", Packages: []string{"github.com/nats-io/stan.go"}},
	{Path: "github.com/uber-go/tally/v4", Version: "v4.1.17", Packages: []string{"github.com/uber-go/tally/v4"}},
	{Path: "google.golang.org/grpc", Version: "v1.71.0", Packages: []string{"google.golang.org/grpc", "google.golang.org/grpc/internal/transport"}},
	{Path: "github.com/pion/dtls/v3", Version: "v3.0.4", Packages: []string{"github.com/pion/dtls/v3"}},
	{Path: "github.com/googollee/go-socket.io", Version: "v1.7.0", Packages: []string{"github.com/googollee/go-socket.io"}},
	{Path: "github.com/golang/groupcache", Version: "v0.0.0-20241129210726-2c02b8208cf8", Packages: []string{"github.com/golang/groupcache"}},
	{Path: "github.com/sirupsen/logrus", Version: "v1.9.3", Packages: []string{"github.com/sirupsen/logrus"}},
	{Path: "github.com/gliderlabs/ssh", Version: "v0.3.8", Packages: []string{"github.com/gliderlabs/ssh"}},
	{Path: "github.com/hashicorp/mdns", Version: "v1.0.5", Packages: []string{"github.com/hashicorp/mdns"}},
	{Path: "github.com/containerd/ttrpc", Version: "v1.2.7", Packages: []string{"github.com/containerd/ttrpc"}},
	{Path: "github.com/mochi-mqtt/server/v2", Version: "v2.6.6", Packages: []string{"github.com/mochi-mqtt/server/v2"}},
	{Path: "github.com/olahol/melody", Version: "v1.2.1", Packages: []string{"github.com/olahol/melody"}},
	{Path: "github.com/valyala/fasthttp", Version: "v1.58.0", Packages: []string{"github.com/valyala/fasthttp"}},
	{Path: "github.com/redis/go-redis/v9", Version: "v9.7.3", Packages: []string{"github.com/redis/go-redis/v9", "github.com/redis/go-redis/v9/internal/pool"}},
	{Path: "github.com/pion/turn/v4", Version: "v4.0.0", Packages: []string{"github.com/pion/turn/v4", "github.com/pion/turn/v4/internal/client", "github.com/pion/turn/v4/internal/allocation"}},
	{Path: "github.com/dgraph-io/badger/v4", Version: "v4.5.1", Packages: []string{"github.com/dgraph-io/badger/v4"}},
	{Path: "github.com/jackc/puddle/v2", Version: "v2.2.2", Packages: []string{"github.com/jackc/puddle/v2"}},
	{Path: "github.com/armon/go-metrics", Version: "v0.4.1", Packages: []string{"github.com/armon/go-metrics"}},
	{Path: "github.com/hashicorp/consul/api", Version: "v1.31.2", Packages: []string{"github.com/hashicorp/consul/api", "github.com/hashicorp/consul/api/watch"}},
}

// twelve are further ones, in which reasons to doubt were found when the others were done.
var twelve = []command.Module{
	{Path: "github.com/jellydator/ttlcache/v3", Version: "v3.3.0", Packages: []string{"github.com/jellydator/ttlcache/v3"}},
	{Path: "github.com/bluele/gcache", Version: "v0.0.2", Packages: []string{"github.com/bluele/gcache"}},
	{Path: "github.com/muesli/cache2go", Version: "v0.0.0-20221011235721-518229cd8021", Packages: []string{"github.com/muesli/cache2go"}},
	{Path: "github.com/sony/gobreaker", Version: "v1.0.0", Packages: []string{"github.com/sony/gobreaker"}},
	{Path: "github.com/r3labs/sse/v2", Version: "v2.10.0", Packages: []string{"github.com/r3labs/sse/v2"}},
	{Path: "github.com/asaskevich/EventBus", Version: "v0.0.0-20200907212545-49d423059eef", Packages: []string{"github.com/asaskevich/EventBus"}},
	{Path: "github.com/DataDog/datadog-go/v5", Version: "v5.6.0", Packages: []string{"github.com/DataDog/datadog-go/v5/statsd"}},
	{Path: "github.com/getsentry/sentry-go", Version: "v0.31.1", Packages: []string{"github.com/getsentry/sentry-go"}},
	{Path: "github.com/uber/jaeger-client-go", Version: "v2.30.0+incompatible", Packages: []string{"github.com/uber/jaeger-client-go"}},
	{Path: "github.com/hashicorp/go-memdb", Version: "v1.3.4", Packages: []string{"github.com/hashicorp/go-memdb"}},
	{Path: "github.com/cskr/pubsub", Version: "v1.0.2", Packages: []string{"github.com/cskr/pubsub"}},
	{Path: "github.com/launchdarkly/eventsource", Version: "v1.8.0", Packages: []string{"github.com/launchdarkly/eventsource"}},
}

// ten are further ones, in which more of them were found.
var ten = []command.Module{
	{Path: "k8s.io/client-go", Version: "v0.37.2", Packages: []string{"k8s.io/client-go/tools/cache", "k8s.io/client-go/util/workqueue"}},
	{Path: "go.opentelemetry.io/otel/sdk", Version: "v1.47.0", Packages: []string{"go.opentelemetry.io/otel/sdk/trace"}},
	{Path: "github.com/jackc/pgx/v5", Version: "v5.12.0", Packages: []string{"github.com/jackc/pgx/v5/pgxpool", "github.com/jackc/pgx/v5/pgconn"}},
	{Path: "github.com/twmb/franz-go", Version: "v1.22.2", Packages: []string{"github.com/twmb/franz-go/pkg/kgo"}},
	{Path: "github.com/hibiken/asynq", Version: "v0.26.0", Packages: []string{"github.com/hibiken/asynq"}},
	{Path: "github.com/ThreeDotsLabs/watermill", Version: "v1.5.1", Packages: []string{"github.com/ThreeDotsLabs/watermill/message", "github.com/ThreeDotsLabs/watermill/pubsub/gochannel"}},
	{Path: "github.com/apache/pulsar-client-go", Version: "v0.19.0", Packages: []string{"github.com/apache/pulsar-client-go/pulsar"}},
	{Path: "github.com/pion/webrtc/v4", Version: "v4.0.14", Packages: []string{"github.com/pion/webrtc/v4"}},
	{Path: "github.com/olivere/elastic/v7", Version: "v7.0.32", Packages: []string{"github.com/olivere/elastic/v7"}},
	{Path: "github.com/minio/minio-go/v7", Version: "v7.4.1", Packages: []string{"github.com/minio/minio-go/v7"}},
}

// tenMore are the last in which some were found.
var tenMore = []command.Module{
	{Path: "github.com/hashicorp/vault/api", Version: "v1.23.0", Packages: []string{"github.com/hashicorp/vault/api"}},
	{Path: "github.com/Azure/go-amqp", Version: "v1.7.0", Packages: []string{"github.com/Azure/go-amqp"}},
	{Path: "github.com/pkg/sftp", Version: "v1.13.12", Packages: []string{"github.com/pkg/sftp"}},
	{Path: "github.com/pion/interceptor", Version: "v0.1.51", Packages: []string{"github.com/pion/interceptor/pkg/gcc", "github.com/pion/interceptor/pkg/nack", "github.com/pion/interceptor/pkg/report", "github.com/pion/interceptor/pkg/stats", "github.com/pion/interceptor/pkg/twcc"}},
	{Path: "github.com/influxdata/influxdb-client-go/v2", Version: "v2.14.0", Packages: []string{"github.com/influxdata/influxdb-client-go/v2", "github.com/influxdata/influxdb-client-go/v2/api", "github.com/influxdata/influxdb-client-go/v2/internal/write"}},
	{Path: "github.com/newrelic/go-agent/v3", Version: "v3.45.0", Packages: []string{"github.com/newrelic/go-agent/v3/newrelic"}},
	{Path: "github.com/casbin/casbin/v2", Version: "v2.135.0", Packages: []string{"github.com/casbin/casbin/v2", "github.com/casbin/casbin/v2/model", "github.com/casbin/casbin/v2/rbac/default-role-manager"}},
	{Path: "github.com/reugn/go-quartz", Version: "v0.15.2", Packages: []string{"github.com/reugn/go-quartz/quartz"}},
	{Path: "github.com/lxzan/gws", Version: "v1.8.9", Packages: []string{"github.com/lxzan/gws"}},
	{Path: "github.com/go-sql-driver/mysql", Version: "v1.10.1", Packages: []string{"github.com/go-sql-driver/mysql"}},
}

// unseen are nine that were looked at then, and for which no rule was made or changed.
var unseen = []command.Module{
	{Path: "go.uber.org/zap", Version: "v1.28.0", Packages: []string{"go.uber.org/zap", "go.uber.org/zap/zapcore"}},
	{Path: "go.uber.org/fx", Version: "v1.24.0", Packages: []string{"go.uber.org/fx", "go.uber.org/fx/internal/lifecycle"}},
	{Path: "github.com/docker/go-events", Version: "v0.1.0", Packages: []string{"github.com/docker/go-events"}},
	{Path: "github.com/grafana/pyroscope-go", Version: "v1.4.3", Packages: []string{"github.com/grafana/pyroscope-go", "github.com/grafana/pyroscope-go/upstream/remote"}},
	{Path: "github.com/hashicorp/go-retryablehttp", Version: "v0.7.8", Packages: []string{"github.com/hashicorp/go-retryablehttp"}},
	{Path: "github.com/spf13/viper", Version: "v1.21.0", Packages: []string{"github.com/spf13/viper"}},
	{Path: "github.com/ipfs/go-log/v2", Version: "v2.9.2", Packages: []string{"github.com/ipfs/go-log/v2"}},
	{Path: "github.com/ReneKroon/ttlcache/v2", Version: "v2.11.0", Packages: []string{"github.com/ReneKroon/ttlcache/v2"}},
	{Path: "go.temporal.io/sdk", Version: "v1.50.0", Packages: []string{"go.temporal.io/sdk/internal"}},
}

// dozen are further ones, in which more reasons to doubt were found.
var dozen = []command.Module{
	{Path: "go.etcd.io/etcd/client/v3", Version: "v3.7.3", Packages: []string{"go.etcd.io/etcd/client/v3", "go.etcd.io/etcd/client/v3/concurrency", "go.etcd.io/etcd/client/v3/leasing"}},
	{Path: "github.com/prometheus/alertmanager", Version: "v0.34.2", Packages: []string{"github.com/prometheus/alertmanager/nflog", "github.com/prometheus/alertmanager/silence", "github.com/prometheus/alertmanager/provider/mem", "github.com/prometheus/alertmanager/dispatch", "github.com/prometheus/alertmanager/cluster"}},
	{Path: "go.mongodb.org/mongo-driver/v2", Version: "v2.9.2", Packages: []string{"go.mongodb.org/mongo-driver/v2/mongo", "go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology", "go.mongodb.org/mongo-driver/v2/x/mongo/driver/session"}},
	{Path: "github.com/aerospike/aerospike-client-go/v8", Version: "v8.5.0", Packages: []string{"github.com/aerospike/aerospike-client-go/v8"}},
	{Path: "github.com/ethereum/go-ethereum", Version: "v1.17.10", Packages: []string{"github.com/ethereum/go-ethereum/rpc", "github.com/ethereum/go-ethereum/event", "github.com/ethereum/go-ethereum/p2p", "github.com/ethereum/go-ethereum/p2p/discover", "github.com/ethereum/go-ethereum/node"}},
	{Path: "github.com/zeromicro/go-zero", Version: "v1.10.3", Packages: []string{"github.com/zeromicro/go-zero/core/collection", "github.com/zeromicro/go-zero/core/discov", "github.com/zeromicro/go-zero/core/executors", "github.com/zeromicro/go-zero/core/syncx", "github.com/zeromicro/go-zero/core/stores/cache", "github.com/zeromicro/go-zero/core/logx", "github.com/zeromicro/go-zero/core/breaker", "github.com/zeromicro/go-zero/core/load", "github.com/zeromicro/go-zero/core/limit"}},
	{Path: "github.com/gofiber/fiber/v2", Version: "v2.52.15", Packages: []string{"github.com/gofiber/fiber/v2", "github.com/gofiber/fiber/v2/middleware/session", "github.com/gofiber/fiber/v2/middleware/cache", "github.com/gofiber/fiber/v2/middleware/limiter", "github.com/gofiber/fiber/v2/middleware/idempotency"}},
	{Path: "github.com/cometbft/cometbft", Version: "v1.0.1", Packages: []string{"github.com/cometbft/cometbft/mempool", "github.com/cometbft/cometbft/p2p", "github.com/cometbft/cometbft/p2p/pex", "github.com/cometbft/cometbft/libs/pubsub", "github.com/cometbft/cometbft/abci/client"}},
	{Path: "github.com/anacrolix/torrent", Version: "v1.62.0", Packages: []string{"github.com/anacrolix/torrent/tracker/udp", "github.com/anacrolix/torrent/storage"}},
	{Path: "github.com/alitto/pond/v2", Version: "v2.7.1", Packages: []string{"github.com/alitto/pond/v2"}},
	{Path: "github.com/gammazero/workerpool", Version: "v1.3.0", Packages: []string{"github.com/gammazero/workerpool"}},
	{Path: "github.com/cloudwego/netpoll", Version: "v0.7.2", Packages: []string{"github.com/cloudwego/netpoll"}},
}

// second are a dozen in which only split sections led to a change.
var second = []command.Module{
	{Path: "github.com/cockroachdb/pebble", Version: "v1.1.5", Packages: []string{"github.com/cockroachdb/pebble", "github.com/cockroachdb/pebble/sstable", "github.com/cockroachdb/pebble/vfs"}},
	{Path: "github.com/ClickHouse/clickhouse-go/v2", Version: "v2.50.0", Packages: []string{"github.com/ClickHouse/clickhouse-go/v2"}},
	{Path: "github.com/go-kit/kit", Version: "v0.13.0", Packages: []string{"github.com/go-kit/kit/sd", "github.com/go-kit/kit/sd/internal/instance", "github.com/go-kit/kit/util/conn", "github.com/go-kit/kit/metrics/generic", "github.com/go-kit/kit/metrics/internal/lv", "github.com/go-kit/kit/metrics/statsd"}},
	{Path: "github.com/couchbase/gocbcore/v10", Version: "v10.8.1", Packages: []string{"github.com/couchbase/gocbcore/v10"}},
	{Path: "github.com/VictoriaMetrics/metrics", Version: "v1.35.1", Packages: []string{"github.com/VictoriaMetrics/metrics"}},
	{Path: "github.com/moby/buildkit", Version: "v0.34.1", Packages: []string{"github.com/moby/buildkit/solver", "github.com/moby/buildkit/util/flightcontrol", "github.com/moby/buildkit/util/progress", "github.com/moby/buildkit/session"}},
	{Path: "github.com/open-telemetry/opamp-go", Version: "v0.23.0", Packages: []string{"github.com/open-telemetry/opamp-go/client", "github.com/open-telemetry/opamp-go/client/internal", "github.com/open-telemetry/opamp-go/server"}},
	{Path: "github.com/coredns/coredns", Version: "v1.15.0", Packages: []string{"github.com/coredns/coredns/plugin/cache", "github.com/coredns/coredns/plugin/file", "github.com/coredns/coredns/plugin/health", "github.com/coredns/coredns/plugin/reload", "github.com/coredns/coredns/core/dnsserver"}},
	{Path: "github.com/ipfs/boxo", Version: "v0.12.0", Packages: []string{"github.com/ipfs/boxo/bitswap/server/internal/decision", "github.com/ipfs/boxo/bitswap/client/internal/session", "github.com/ipfs/boxo/bitswap/client/internal/messagequeue", "github.com/ipfs/boxo/bitswap/client/internal/peermanager", "github.com/ipfs/boxo/blockservice"}},
	{Path: "github.com/tikv/client-go/v2", Version: "v2.0.4", Packages: []string{"github.com/tikv/client-go/v2/internal/locate", "github.com/tikv/client-go/v2/oracle/oracles", "github.com/tikv/client-go/v2/txnkv/transaction", "github.com/tikv/client-go/v2/txnkv/txnlock"}},
	{Path: "github.com/ory/fosite", Version: "v0.49.0", Packages: []string{"github.com/ory/fosite/storage"}},
	{Path: "github.com/traefik/yaegi", Version: "v0.16.1", Packages: []string{"github.com/traefik/yaegi/interp"}},
}

// third are a dozen more, in which reasons were found once more.
var third = []command.Module{
	{Path: "github.com/prometheus/prometheus", Version: "v0.315.0", Packages: []string{"github.com/prometheus/prometheus/scrape", "github.com/prometheus/prometheus/notifier", "github.com/prometheus/prometheus/rules", "github.com/prometheus/prometheus/discovery", "github.com/prometheus/prometheus/tsdb"}},
	{Path: "go.opentelemetry.io/collector/processor/batchprocessor", Version: "v0.164.0", Packages: []string{"go.opentelemetry.io/collector/processor/batchprocessor"}},
	{Path: "github.com/rollbar/rollbar-go", Version: "v1.4.5", Packages: []string{"github.com/rollbar/rollbar-go"}},
	{Path: "github.com/posthog/posthog-go", Version: "v1.5.2", Packages: []string{"github.com/posthog/posthog-go"}},
	{Path: "github.com/slack-go/slack", Version: "v0.33.0", Packages: []string{"github.com/slack-go/slack", "github.com/slack-go/slack/socketmode"}},
	{Path: "github.com/bwmarrin/discordgo", Version: "v0.29.0", Packages: []string{"github.com/bwmarrin/discordgo"}},
	{Path: "github.com/gempir/go-twitch-irc/v4", Version: "v4.2.0", Packages: []string{"github.com/gempir/go-twitch-irc/v4"}},
	{Path: "github.com/libp2p/go-libp2p", Version: "v0.51.0", Packages: []string{"github.com/libp2p/go-libp2p/p2p/net/swarm", "github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem", "github.com/libp2p/go-libp2p/p2p/net/connmgr", "github.com/libp2p/go-libp2p/p2p/host/basic"}},
	{Path: "github.com/riverqueue/river", Version: "v0.51.0", Packages: []string{"github.com/riverqueue/river", "github.com/riverqueue/river/internal/maintenance", "github.com/riverqueue/river/internal/leadership"}},
	{Path: "github.com/mediocregopher/radix/v4", Version: "v4.1.4", Packages: []string{"github.com/mediocregopher/radix/v4"}},
	{Path: "github.com/fluent/fluent-logger-golang", Version: "v1.10.2", Packages: []string{"github.com/fluent/fluent-logger-golang/fluent"}},
	{Path: "k8s.io/klog/v2", Version: "v2.140.0", Packages: []string{"k8s.io/klog/v2"}},
	{Path: "sigs.k8s.io/controller-runtime", Version: "v0.25.2", Packages: []string{"sigs.k8s.io/controller-runtime/pkg/cache", "sigs.k8s.io/controller-runtime/pkg/cache/internal", "sigs.k8s.io/controller-runtime/pkg/manager", "sigs.k8s.io/controller-runtime/pkg/internal/controller", "sigs.k8s.io/controller-runtime/pkg/certwatcher"}},
}

// fourth are the last in which some were found.
var fourth = []command.Module{
	{Path: "github.com/hashicorp/nomad/api", Version: "v0.0.0-20260907080526-08ef8f3d26da", Packages: []string{"github.com/hashicorp/nomad/api"}},
	{Path: "github.com/hashicorp/consul-template", Version: "v0.41.1", Packages: []string{"github.com/hashicorp/consul-template/manager", "github.com/hashicorp/consul-template/watch", "github.com/hashicorp/consul-template/dependency", "github.com/hashicorp/consul-template/template", "github.com/hashicorp/consul-template/child"}},
	{Path: "github.com/moby/swarmkit/v2", Version: "v2.0.0", Packages: []string{"github.com/moby/swarmkit/v2/agent", "github.com/moby/swarmkit/v2/manager/dispatcher", "github.com/moby/swarmkit/v2/manager/state/store", "github.com/moby/swarmkit/v2/manager/scheduler", "github.com/moby/swarmkit/v2/watch"}},
	{Path: "github.com/gin-gonic/gin", Version: "v1.12.0", Packages: []string{"github.com/gin-gonic/gin"}},
	{Path: "github.com/labstack/echo/v4", Version: "v4.16.0", Packages: []string{"github.com/labstack/echo/v4", "github.com/labstack/echo/v4/middleware"}},
	{Path: "github.com/kataras/iris/v12", Version: "v12.2.11", Packages: []string{"github.com/kataras/iris/v12/sessions", "github.com/kataras/iris/v12/cache/client", "github.com/kataras/iris/v12/context"}},
	{Path: "github.com/elastic/go-elasticsearch/v8", Version: "v8.19.7", Packages: []string{"github.com/elastic/go-elasticsearch/v8/esutil"}},
	{Path: "github.com/ipfs/go-datastore", Version: "v0.9.2", Packages: []string{"github.com/ipfs/go-datastore", "github.com/ipfs/go-datastore/autobatch", "github.com/ipfs/go-datastore/keytransform", "github.com/ipfs/go-datastore/sync"}},
	{Path: "github.com/go-redsync/redsync/v4", Version: "v4.18.1", Packages: []string{"github.com/go-redsync/redsync/v4"}},
	{Path: "github.com/coreos/go-systemd/v22", Version: "v22.7.0", Packages: []string{"github.com/coreos/go-systemd/v22/dbus", "github.com/coreos/go-systemd/v22/login1"}},
	{Path: "k8s.io/apimachinery", Version: "v0.37.2", Packages: []string{"k8s.io/apimachinery/pkg/watch", "k8s.io/apimachinery/pkg/util/wait", "k8s.io/apimachinery/pkg/util/cache", "k8s.io/apimachinery/pkg/util/httpstream/spdy"}},
	{Path: "github.com/containerd/containerd/v2", Version: "v2.4.2", Packages: []string{"github.com/containerd/containerd/v2/core/metadata", "github.com/containerd/containerd/v2/core/runtime/v2", "github.com/containerd/containerd/v2/pkg/shutdown", "github.com/containerd/containerd/v2/plugins/content/local"}},
}

// untouched are modules for which no rule was made or changed before a witness was asked for.
var untouched = []command.Module{
	{Path: "github.com/hashicorp/go-hclog", Version: "v1.6.3", Packages: []string{"github.com/hashicorp/go-hclog"}},
	{Path: "github.com/go-chi/httprate", Version: "v0.16.1", Packages: []string{"github.com/go-chi/httprate"}},
	{Path: "github.com/multiformats/go-multistream", Version: "v0.6.1", Packages: []string{"github.com/multiformats/go-multistream"}},
	{Path: "github.com/go-redis/redis/v8", Version: "v8.11.5", Packages: []string{"github.com/go-redis/redis/v8", "github.com/go-redis/redis/v8/internal/pool"}},
	{Path: "github.com/bradfitz/gomemcache", Version: "v0.0.0-20260422231931-4d751bb6e37c", Packages: []string{"github.com/bradfitz/gomemcache/memcache"}},
	{Path: "github.com/golang/glog", Version: "v1.2.5", Packages: []string{"github.com/golang/glog", "github.com/golang/glog/internal/logsink"}},
	{Path: "github.com/hashicorp/raft-boltdb/v2", Version: "v2.3.1", Packages: []string{"github.com/hashicorp/raft-boltdb/v2"}},
	{Path: "github.com/opencontainers/runc", Version: "v1.5.2", Packages: []string{"github.com/opencontainers/runc/libcontainer"}},
}
