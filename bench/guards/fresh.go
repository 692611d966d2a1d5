package guards

import "github.com/cofferdam-go/cofferdam/bench/command"

// The modules here were chosen before anything was run on them: well-known ones in which locks are, and of each
// the five packages that declare most.

// fifth are a dozen that was looked at when a witness was first asked for, and in which types for one goroutine were found.
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

// tenth are the last, for which no rule was made or changed.
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
