package guards

import "github.com/cofferdam-go/cofferdam/bench/command"

// The modules here were chosen before anything was run on them: well-known ones in which locks are, and of each
// the five packages that declare most.

// fifth are a dozen that was looked at when a witness was first asked for, and in which types for one
// goroutine were found.
var fifth = []command.Module{
	{Path: "github.com/stretchr/testify", Version: "v1.12.1", Packages: []string{"github.com/stretchr/testify/mock", "github.com/stretchr/testify/suite"}},
	{Path: "github.com/jarcoal/httpmock", Version: "v1.4.2", Packages: []string{"github.com/jarcoal/httpmock"}},
	{Path: "github.com/go-resty/resty/v2", Version: "v2.17.2", Packages: []string{"github.com/go-resty/resty/v2"}},
	{Path: "github.com/gocolly/colly/v2", Version: "v2.3.0", Packages: []string{"github.com/gocolly/colly/v2", "github.com/gocolly/colly/v2/queue", "github.com/gocolly/colly/v2/storage", "github.com/gocolly/colly/v2/debug"}},
	{Path: "github.com/rivo/tview", Version: "v0.42.0", Packages: []string{"github.com/rivo/tview"}},
	{Path: "github.com/gdamore/tcell/v2", Version: "v2.13.10", Packages: []string{"github.com/gdamore/tcell/v2", "github.com/gdamore/tcell/v2/terminfo", "github.com/gdamore/tcell/v2/views"}},
	{Path: "github.com/schollz/progressbar/v3", Version: "v3.19.1", Packages: []string{"github.com/schollz/progressbar/v3"}},
	{Path: "golang.org/x/crypto", Version: "v0.58.0", Packages: []string{"golang.org/x/crypto/ssh", "golang.org/x/crypto/acme/autocert", "golang.org/x/crypto/ssh/agent", "golang.org/x/crypto/acme"}},
	{Path: "github.com/caddyserver/certmagic", Version: "v0.25.6", Packages: []string{"github.com/caddyserver/certmagic", "github.com/caddyserver/certmagic/internal/atomicfile"}},
	{Path: "github.com/afex/hystrix-go", Version: "v0.0.0-20180502004556-fa1af6a1f4f5", Packages: []string{"github.com/afex/hystrix-go/hystrix", "github.com/afex/hystrix-go/hystrix/metric_collector", "github.com/afex/hystrix-go/hystrix/rolling"}},
	{Path: "github.com/btcsuite/btcd", Version: "v0.26.2", Packages: []string{"github.com/btcsuite/btcd/blockchain", "github.com/btcsuite/btcd/database/ffldb", "github.com/btcsuite/btcd/peer", "github.com/btcsuite/btcd/rpcclient", "github.com/btcsuite/btcd/addrmgr"}},
	{Path: "github.com/neo4j/neo4j-go-driver/v5", Version: "v5.28.4", Packages: []string{"github.com/neo4j/neo4j-go-driver/v5/neo4j/internal/pool", "github.com/neo4j/neo4j-go-driver/v5/neo4j", "github.com/neo4j/neo4j-go-driver/v5/neo4j/internal/router", "github.com/neo4j/neo4j-go-driver/v5/neo4j/auth", "github.com/neo4j/neo4j-go-driver/v5/neo4j/internal/homedb"}},
}

// sixth are a dozen, of which one module has nearly all reports.
var sixth = []command.Module{
	{Path: "github.com/Workiva/go-datastructures", Version: "v1.1.7", Packages: []string{"github.com/Workiva/go-datastructures/btree/immutable", "github.com/Workiva/go-datastructures/futures", "github.com/Workiva/go-datastructures/queue", "github.com/Workiva/go-datastructures/btree/palm", "github.com/Workiva/go-datastructures/cache"}},
	{Path: "github.com/asynkron/protoactor-go", Version: "v0.0.0-20240822202345-3c0e61ca19c9", Packages: []string{"github.com/asynkron/protoactor-go/cluster", "github.com/asynkron/protoactor-go/cluster/clusterproviders/automanaged", "github.com/asynkron/protoactor-go/metrics", "github.com/asynkron/protoactor-go/cluster/cluster_test_tool", "github.com/asynkron/protoactor-go/remote"}},
	{Path: "golang.zx2c4.com/wireguard", Version: "v0.0.0-20260522210424-ecfc5a8d5446", Packages: []string{"golang.zx2c4.com/wireguard/device", "golang.zx2c4.com/wireguard/ipc/namedpipe", "golang.zx2c4.com/wireguard/tun", "golang.zx2c4.com/wireguard/ratelimiter", "golang.zx2c4.com/wireguard/conn"}},
	{Path: "github.com/google/martian/v3", Version: "v3.3.3", Packages: []string{"github.com/google/martian/v3", "github.com/google/martian/v3/h2", "github.com/google/martian/v3/trafficshape", "github.com/google/martian/v3/auth", "github.com/google/martian/v3/fifo"}},
	{Path: "github.com/emersion/go-smtp", Version: "v0.25.0", Packages: []string{"github.com/emersion/go-smtp"}},
	{Path: "github.com/chromedp/chromedp", Version: "v0.21.1", Packages: []string{"github.com/chromedp/chromedp", "github.com/chromedp/chromedp/remote/internal/websocket", "github.com/chromedp/chromedp/remote"}},
	{Path: "github.com/spf13/afero", Version: "v1.15.0", Packages: []string{"github.com/spf13/afero", "github.com/spf13/afero/mem"}},
	{Path: "github.com/coreos/go-oidc/v3", Version: "v3.21.0", Packages: []string{"github.com/coreos/go-oidc/v3/oidc"}},
	{Path: "golang.org/x/oauth2", Version: "v0.37.0", Packages: []string{"golang.org/x/oauth2", "golang.org/x/oauth2/google", "golang.org/x/oauth2/internal"}},
	{Path: "github.com/lestrrat-go/jwx/v2", Version: "v2.1.7", Packages: []string{"github.com/lestrrat-go/jwx/v2/jwk", "github.com/lestrrat-go/jwx/v2/jwa", "github.com/lestrrat-go/jwx/v2/jws", "github.com/lestrrat-go/jwx/v2/jwe", "github.com/lestrrat-go/jwx/v2/jwt"}},
	{Path: "github.com/jonboulle/clockwork", Version: "v0.5.0", Packages: []string{"github.com/jonboulle/clockwork"}},
}

// seventh are a dozen that was looked at with the rules that the two before have led to.
var seventh = []command.Module{
	{Path: "github.com/vbauerster/mpb/v8", Version: "v8.9.3", Packages: []string{"github.com/vbauerster/mpb/v8/decor"}},
	{Path: "github.com/blevesearch/bleve/v2", Version: "v2.6.1", Packages: []string{"github.com/blevesearch/bleve/v2/index/scorch", "github.com/blevesearch/bleve/v2/index/upsidedown/store/moss", "github.com/blevesearch/bleve/v2", "github.com/blevesearch/bleve/v2/index/upsidedown", "github.com/blevesearch/bleve/v2/index/upsidedown/store/gtreap"}},
	{Path: "github.com/benbjohnson/clock", Version: "v1.3.5", Packages: []string{"github.com/benbjohnson/clock"}},
	{Path: "github.com/onsi/gomega", Version: "v1.44.0", Packages: []string{"github.com/onsi/gomega/gexec", "github.com/onsi/gomega/gbytes", "github.com/onsi/gomega/ghttp", "github.com/onsi/gomega/gmeasure", "github.com/onsi/gomega/internal"}},
	{Path: "github.com/microsoft/go-mssqldb", Version: "v1.11.2", Packages: []string{"github.com/microsoft/go-mssqldb/aecmk"}},
	{Path: "github.com/disgoorg/disgo", Version: "v0.18.15", Packages: []string{"github.com/disgoorg/disgo/rest", "github.com/disgoorg/disgo/voice", "github.com/disgoorg/disgo/bot", "github.com/disgoorg/disgo/cache", "github.com/disgoorg/disgo/gateway"}},
	{Path: "github.com/cilium/ebpf", Version: "v0.22.0", Packages: []string{"github.com/cilium/ebpf/btf", "github.com/cilium/ebpf/internal", "github.com/cilium/ebpf/internal/epoll", "github.com/cilium/ebpf/perf", "github.com/cilium/ebpf/ringbuf"}},
	{Path: "github.com/charmbracelet/bubbletea", Version: "v1.3.10", Packages: []string{"github.com/charmbracelet/bubbletea"}},
	{Path: "github.com/Shopify/toxiproxy/v2", Version: "v2.5.0", Packages: []string{"github.com/Shopify/toxiproxy/v2", "github.com/Shopify/toxiproxy/v2/toxics"}},
	{Path: "github.com/elazarl/goproxy", Version: "v1.9.2", Packages: []string{"github.com/elazarl/goproxy/transport"}},
	{Path: "github.com/couchbase/gocb/v2", Version: "v2.11.1", Packages: []string{"github.com/couchbase/gocb/v2"}},
}

// eighth are a dozen that was looked at with the same.
var eighth = []command.Module{
	{Path: "github.com/peterbourgon/diskv/v3", Version: "v3.0.1", Packages: []string{"github.com/peterbourgon/diskv/v3"}},
	{Path: "github.com/go-telegram/bot", Version: "v1.19.0", Packages: []string{"github.com/go-telegram/bot"}},
	{Path: "gopkg.in/telebot.v3", Version: "v3.3.8", Packages: []string{"gopkg.in/telebot.v3", "gopkg.in/telebot.v3/layout"}},
	{Path: "github.com/hashicorp/go-metrics", Version: "v0.7.0", Packages: []string{"github.com/hashicorp/go-metrics"}},
	{Path: "github.com/open-policy-agent/opa", Version: "v1.22.0", Packages: []string{"github.com/open-policy-agent/opa/v1/plugins/logs", "github.com/open-policy-agent/opa/v1/runtime", "github.com/open-policy-agent/opa/internal/gojsonschema", "github.com/open-policy-agent/opa/v1/debug", "github.com/open-policy-agent/opa/v1/plugins"}},
	{Path: "github.com/flosch/pongo2/v6", Version: "v6.0.0", Packages: []string{"github.com/flosch/pongo2/v6"}},
	{Path: "gorm.io/gorm", Version: "v1.31.2", Packages: []string{"gorm.io/gorm", "gorm.io/gorm/internal/lru", "gorm.io/gorm/schema"}},
	{Path: "xorm.io/xorm", Version: "v1.4.3", Packages: []string{"xorm.io/xorm/caches", "xorm.io/xorm", "xorm.io/xorm/core", "xorm.io/xorm/names"}},
	{Path: "github.com/h2non/gock", Version: "v1.2.0", Packages: []string{"github.com/h2non/gock"}},
	{Path: "github.com/DATA-DOG/go-sqlmock", Version: "v1.5.2", Packages: []string{"github.com/DATA-DOG/go-sqlmock"}},
	{Path: "github.com/pion/transport/v3", Version: "v3.1.1", Packages: []string{"github.com/pion/transport/v3/vnet", "github.com/pion/transport/v3/netctx", "github.com/pion/transport/v3/udp", "github.com/pion/transport/v3/connctx", "github.com/pion/transport/v3/deadline"}},
}

// ninth were looked at next, and nothing but a split section was reported.
var ninth = []command.Module{
	{Path: "github.com/google/go-github/v60", Version: "v60.0.0", Packages: []string{"github.com/google/go-github/v60/github"}},
	{Path: "github.com/digitalocean/godo", Version: "v1.233.0", Packages: []string{"github.com/digitalocean/godo"}},
	{Path: "github.com/rs/zerolog", Version: "v1.35.1", Packages: []string{"github.com/rs/zerolog", "github.com/rs/zerolog/diode/internal/diodes"}},
	{Path: "github.com/inconshreveable/log15", Version: "v2.16.0+incompatible", Packages: []string{"github.com/inconshreveable/log15/ext", "github.com/inconshreveable/log15"}},
	{Path: "github.com/apex/log", Version: "v1.9.0", Packages: []string{"github.com/apex/log/handlers/cli", "github.com/apex/log/handlers/es", "github.com/apex/log/handlers/json", "github.com/apex/log/handlers/logfmt", "github.com/apex/log/handlers/memory"}},
	{Path: "github.com/cihub/seelog", Version: "v0.0.0-20170130134532-f561c5e57575", Packages: []string{"github.com/cihub/seelog"}},
	{Path: "github.com/emersion/go-imap/v2", Version: "v2.0.0-beta.8", Packages: []string{"github.com/emersion/go-imap/v2/imapserver", "github.com/emersion/go-imap/v2/imapserver/imapmemserver", "github.com/emersion/go-imap/v2/imapclient"}},
	{Path: "github.com/pion/mdns/v2", Version: "v2.2.2", Packages: []string{"github.com/pion/mdns/v2"}},
	{Path: "github.com/aws/aws-sdk-go", Version: "v1.55.8", Packages: []string{"github.com/aws/aws-sdk-go/service/s3/s3manager", "github.com/aws/aws-sdk-go/aws", "github.com/aws/aws-sdk-go/aws/credentials", "github.com/aws/aws-sdk-go/aws/crr", "github.com/aws/aws-sdk-go/aws/csm"}},
	{Path: "github.com/gorilla/sessions", Version: "v1.4.0", Packages: []string{"github.com/gorilla/sessions"}},
	{Path: "github.com/go-co-op/gocron", Version: "v1.37.0", Packages: []string{"github.com/go-co-op/gocron"}},
}

// tenth were looked at after that, and no rule was made or changed for them.
var tenth = []command.Module{
	{Path: "github.com/thejerf/suture/v4", Version: "v4.0.6", Packages: []string{"github.com/thejerf/suture/v4"}},
	{Path: "github.com/go-ldap/ldap/v3", Version: "v3.4.15", Packages: []string{"github.com/go-ldap/ldap/v3"}},
	{Path: "github.com/nxadm/tail", Version: "v1.4.11", Packages: []string{"github.com/nxadm/tail/watch", "github.com/nxadm/tail"}},
	{Path: "github.com/elastic/elastic-transport-go/v8", Version: "v8.11.0", Packages: []string{"github.com/elastic/elastic-transport-go/v8/elastictransport", "github.com/elastic/elastic-transport-go/v8/elastictransport/sloghandler"}},
	{Path: "github.com/looplab/fsm", Version: "v1.0.3", Packages: []string{"github.com/looplab/fsm"}},
	{Path: "github.com/qmuntal/stateless", Version: "v1.7.2", Packages: []string{"github.com/qmuntal/stateless"}},
	{Path: "github.com/throttled/throttled/v2", Version: "v2.15.0", Packages: []string{"github.com/throttled/throttled/v2/store/memstore"}},
	{Path: "github.com/didip/tollbooth/v7", Version: "v7.0.2", Packages: []string{"github.com/didip/tollbooth/v7/internal/time/rate", "github.com/didip/tollbooth/v7/limiter"}},
	{Path: "github.com/ulule/limiter/v3", Version: "v3.11.2", Packages: []string{"github.com/ulule/limiter/v3/drivers/store/memory", "github.com/ulule/limiter/v3/drivers/store/redis"}},
	{Path: "github.com/eclipse/paho.golang", Version: "v0.23.0", Packages: []string{"github.com/eclipse/paho.golang/paho", "github.com/eclipse/paho.golang/autopaho", "github.com/eclipse/paho.golang/paho/session/state", "github.com/eclipse/paho.golang/autopaho/extensions/rpc", "github.com/eclipse/paho.golang/autopaho/queue/file"}},
	{Path: "github.com/sasha-s/go-deadlock", Version: "v0.3.9", Packages: []string{"github.com/sasha-s/go-deadlock"}},
	{Path: "github.com/juju/ratelimit", Version: "v1.0.2", Packages: []string{"github.com/juju/ratelimit"}},
}

// eleventh are two dozens that were taken in turns from lists of a dozen kinds of modules, caches to servers,
// and for which no rule was made or changed; one module has most of the reports.
var eleventh = []command.Module{
	{Path: "github.com/joncrlsn/dque", Version: "v0.0.0-20211108142734-c2ef48c5192a", Packages: []string{"github.com/joncrlsn/dque"}},
	{Path: "github.com/jolestar/go-commons-pool/v2", Version: "v2.1.2", Packages: []string{"github.com/jolestar/go-commons-pool/v2", "github.com/jolestar/go-commons-pool/v2/collections", "github.com/jolestar/go-commons-pool/v2/concurrent"}},
	{Path: "github.com/soheilhy/cmux", Version: "v0.1.5", Packages: []string{"github.com/soheilhy/cmux"}},
	{Path: "github.com/jedib0t/go-pretty/v6", Version: "v6.8.3", Packages: []string{"github.com/jedib0t/go-pretty/v6/progress", "github.com/jedib0t/go-pretty/v6/text"}},
	{Path: "github.com/anacrolix/dht/v2", Version: "v2.23.0", Packages: []string{"github.com/anacrolix/dht/v2", "github.com/anacrolix/dht/v2/bep44", "github.com/anacrolix/dht/v2/peer-store", "github.com/anacrolix/dht/v2/transactions", "github.com/anacrolix/dht/v2/traversal"}},
	{Path: "github.com/coocood/freecache", Version: "v1.2.7", Packages: []string{"github.com/coocood/freecache"}},
	{Path: "github.com/cheggaaa/pb/v3", Version: "v3.2.1", Packages: []string{"github.com/cheggaaa/pb/v3", "github.com/cheggaaa/pb/v3/termutil"}},
	{Path: "github.com/rubyist/circuitbreaker", Version: "v2.2.1+incompatible", Packages: []string{"github.com/rubyist/circuitbreaker"}},
	{Path: "github.com/gosnmp/gosnmp", Version: "v1.47.0", Packages: []string{"github.com/gosnmp/gosnmp"}},
	{Path: "github.com/knadh/koanf/v2", Version: "v2.4.1", Packages: []string{"github.com/knadh/koanf/v2"}},
	{Path: "github.com/nakabonne/tstorage", Version: "v0.3.6", Packages: []string{"github.com/nakabonne/tstorage"}},
	{Path: "github.com/chzyer/readline", Version: "v1.5.1", Packages: []string{"github.com/chzyer/readline"}},
	{Path: "github.com/alicebob/miniredis/v2", Version: "v2.40.0", Packages: []string{"github.com/alicebob/miniredis/v2", "github.com/alicebob/miniredis/v2/server"}},
	{Path: "github.com/maypok86/otter/v2", Version: "v2.4.0", Packages: []string{"github.com/maypok86/otter/v2", "github.com/maypok86/otter/v2/internal/hashmap"}},
	{Path: "github.com/open-feature/go-sdk", Version: "v1.20.0", Packages: []string{"github.com/open-feature/go-sdk/openfeature", "github.com/open-feature/go-sdk/openfeature/multi", "github.com/open-feature/go-sdk/openfeature/memprovider"}},
	{Path: "gopkg.in/natefinch/lumberjack.v2", Version: "v2.2.1", Packages: []string{"gopkg.in/natefinch/lumberjack.v2"}},
	{Path: "github.com/tidwall/wal", Version: "v1.2.1", Packages: []string{"github.com/tidwall/wal"}},
	{Path: "github.com/gizak/termui/v3", Version: "v3.1.0", Packages: []string{"github.com/gizak/termui/v3"}},
	{Path: "github.com/sourcegraph/conc", Version: "v0.3.0", Packages: []string{"github.com/sourcegraph/conc/pool", "github.com/sourcegraph/conc/iter"}},
	{Path: "github.com/emiago/sipgo", Version: "v1.7.1", Packages: []string{"github.com/emiago/sipgo/sip", "github.com/emiago/sipgo/fakes", "github.com/emiago/sipgo/siptest"}},
	{Path: "github.com/openzipkin/zipkin-go", Version: "v0.4.3", Packages: []string{"github.com/openzipkin/zipkin-go", "github.com/openzipkin/zipkin-go/reporter/http", "github.com/openzipkin/zipkin-go/idgenerator", "github.com/openzipkin/zipkin-go/reporter/recorder"}},
	{Path: "github.com/pterm/pterm", Version: "v0.12.84", Packages: []string{"github.com/pterm/pterm"}},
	{Path: "github.com/Yiling-J/theine-go", Version: "v0.6.0", Packages: []string{"github.com/Yiling-J/theine-go/internal"}},
	{Path: "github.com/deckarep/golang-set/v2", Version: "v2.9.0", Packages: []string{"github.com/deckarep/golang-set/v2"}},
}

// twelfth are larger modules, in the order of their paths, of which the same is true.
var twelfth = []command.Module{
	{Path: "cloud.google.com/go/pubsub", Version: "v1.51.1", Packages: []string{"cloud.google.com/go/pubsub", "cloud.google.com/go/pubsub/internal/scheduler", "cloud.google.com/go/pubsub/pstest", "cloud.google.com/go/pubsub/internal/distribution", "cloud.google.com/go/pubsub/loadtest"}},
	{Path: "cloud.google.com/go/spanner", Version: "v1.96.1", Packages: []string{"cloud.google.com/go/spanner", "cloud.google.com/go/spanner/spannertest", "cloud.google.com/go/spanner/internal/testutil", "cloud.google.com/go/spanner/omni", "cloud.google.com/go/spanner/test/cloudexecutor/executor/actions"}},
	{Path: "github.com/Azure/azure-sdk-for-go/sdk/azcore", Version: "v1.23.3", Packages: []string{"github.com/Azure/azure-sdk-for-go/sdk/azcore"}},
	{Path: "github.com/apache/arrow-go/v18", Version: "v18.8.0", Packages: []string{"github.com/apache/arrow-go/v18/arrow/flight/flightsql/driver", "github.com/apache/arrow-go/v18/arrow/flight/session", "github.com/apache/arrow-go/v18/arrow", "github.com/apache/arrow-go/v18/arrow/avro", "github.com/apache/arrow-go/v18/arrow/compute"}},
	{Path: "github.com/apache/thrift", Version: "v0.25.0", Packages: []string{"github.com/apache/thrift/lib/go/thrift"}},
	{Path: "github.com/aws/aws-sdk-go-v2", Version: "v1.47.5", Packages: []string{"github.com/aws/aws-sdk-go-v2/aws/retry", "github.com/aws/aws-sdk-go-v2/aws/ratelimit", "github.com/aws/aws-sdk-go-v2/aws/signer/internal/v4", "github.com/aws/aws-sdk-go-v2/internal/sync/singleflight"}},
	{Path: "github.com/charmbracelet/log", Version: "v1.0.0", Packages: []string{"github.com/charmbracelet/log"}},
	{Path: "github.com/dop251/goja", Version: "v0.0.0-20260917113740-793a2a65c13b", Packages: []string{"github.com/dop251/goja", "github.com/dop251/goja/file"}},
	{Path: "github.com/fsouza/go-dockerclient", Version: "v1.13.3", Packages: []string{"github.com/fsouza/go-dockerclient/testing", "github.com/fsouza/go-dockerclient"}},
	{Path: "github.com/go-git/go-git/v5", Version: "v5.19.3", Packages: []string{"github.com/go-git/go-git/v5/plumbing/cache", "github.com/go-git/go-git/v5/plumbing/format/idxfile", "github.com/go-git/go-git/v5/plumbing/transport/http"}},
	{Path: "github.com/godbus/dbus/v5", Version: "v5.2.4", Packages: []string{"github.com/godbus/dbus/v5", "github.com/godbus/dbus/v5/prop"}},
	{Path: "github.com/hashicorp/vault/sdk", Version: "v0.25.1", Packages: []string{"github.com/hashicorp/vault/sdk/helper/keysutil", "github.com/hashicorp/vault/sdk/physical", "github.com/hashicorp/vault/sdk/physical/inmem", "github.com/hashicorp/vault/sdk/database/dbplugin", "github.com/hashicorp/vault/sdk/database/dbplugin/v5"}},
	{Path: "github.com/mdlayher/netlink", Version: "v1.11.2", Packages: []string{"github.com/mdlayher/netlink"}},
	{Path: "github.com/onsi/ginkgo/v2", Version: "v2.33.1", Packages: []string{"github.com/onsi/ginkgo/v2/internal", "github.com/onsi/ginkgo/v2/internal/test_helpers", "github.com/onsi/ginkgo/v2/internal/parallel_support", "github.com/onsi/ginkgo/v2/types", "github.com/onsi/ginkgo/v2/ginkgo/internal"}},
	{Path: "github.com/ory/dockertest/v3", Version: "v3.12.0", Packages: []string{"github.com/ory/dockertest/v3/docker/pkg/ioutils", "github.com/ory/dockertest/v3/docker", "github.com/ory/dockertest/v3/docker/pkg/system"}},
	{Path: "github.com/sijms/go-ora/v2", Version: "v2.8.24", Packages: []string{"github.com/sijms/go-ora/v2/network", "github.com/sijms/go-ora/v2"}},
	{Path: "github.com/snowflakedb/gosnowflake", Version: "v1.19.1", Packages: []string{"github.com/snowflakedb/gosnowflake"}},
	{Path: "github.com/testcontainers/testcontainers-go", Version: "v0.44.0", Packages: []string{"github.com/testcontainers/testcontainers-go", "github.com/testcontainers/testcontainers-go/exec"}},
	{Path: "github.com/tetratelabs/wazero", Version: "v1.12.0", Packages: []string{"github.com/tetratelabs/wazero/internal/wasm", "github.com/tetratelabs/wazero/internal/engine/interpreter", "github.com/tetratelabs/wazero/internal/engine/wazevo", "github.com/tetratelabs/wazero/internal/engine/wazevo/frontend", "github.com/tetratelabs/wazero/internal/engine/wazevo/wazevoapi"}},
	{Path: "github.com/uptrace/bun", Version: "v1.3.0", Packages: []string{"github.com/uptrace/bun", "github.com/uptrace/bun/schema"}},
	{Path: "github.com/vmware/govmomi", Version: "v0.18.0", Packages: []string{"github.com/vmware/govmomi/performance", "github.com/vmware/govmomi/event", "github.com/vmware/govmomi/guest", "github.com/vmware/govmomi/simulator", "github.com/vmware/govmomi/toolbox/hgfs"}},
}
